import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { emptyRoom, gpuSample } from '../../containers/runtime/tests/gpuSamples.js';
import type { HistoryEvent, PointEvent } from './index.js';
import { Busiest } from './busiest.js';
import { EVERY_MS, MOST_ALERTS, MOST_CHANGES, MOST_RECORDED, POINTS, Recorder } from './recorder.js';
import { FakeSources } from './tests/fakeSources.js';
import { LatencyReader } from './trafficReader.js';

/** What the text of one event holds. */
function dataOf<T>(text: string): T {
  return JSON.parse(text.slice(text.indexOf('data: ') + 6)) as T;
}

/** Latencies are known within 8 %. */
function isAbout(found: number | null | undefined, ms: number): boolean {
  return Math.abs((found ?? 0) / ms - 1) < 0.08;
}

describe('the last ten minutes', () => {
  let sources: FakeSources;
  let recorder: Recorder;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    sources = new FakeSources();
    recorder = new Recorder(sources);
  });
  afterEach(() => {
    recorder.close();
    vi.useRealTimers();
  });

  function pass(points = 1): void {
    for (let k = 0; k < points; k++) {
      sources.atMs += EVERY_MS;
      vi.advanceTimersByTime(EVERY_MS);
    }
  }

  const history = () => dataOf<HistoryEvent>(recorder.since(undefined));
  const column = (chart: string, name: string) =>
    history().columns.find(([of, called]) => of === chart && called === name)?.[2];

  it('are there before anybody looks: rates, latencies by application and by model, defaults by reason', () => {
    for (let k = 0; k < 100; k++) sources.answer('a', 10);
    for (let k = 0; k < 20; k++) sources.answer('b', 40, k < 5 ? 'overload' : 'deadline');
    sources.batch('m', '1', 6, 3, 5);
    sources.batch('m', '1', 2, 3, 5);
    pass();
    pass();
    expect(column('rate', 'predicted')).toEqual([50, 0]);
    expect(column('rate', 'default output')).toEqual([10, 0]);
    expect(column('defaults', 'deadline')).toEqual([7.5, 0]);
    expect(column('defaults', 'overload')).toEqual([2.5, 0]);
    expect(column('applicationRate', 'a')).toEqual([50, null]);
    for (const chart of ['applicationP50', 'applicationP99']) {
      expect(isAbout(column(chart, 'a')?.[0], 10)).toBe(true);
      expect(isAbout(column(chart, 'b')?.[0], 40)).toBe(true);
    }
    expect(column('batches', 'm v1')).toEqual([4, null]);
    expect(isAbout(column('modelP50', 'm v1')?.[0], 8)).toBe(true);
  });

  it('forget reasons for defaults that have not come for long', () => {
    sources.answer('a', 1, 'deadline');
    pass(POINTS);
    expect(column('defaults', 'deadline')?.slice(0, 3)).toEqual([0.5, 0, 0]);
    pass(POINTS + 1);
    expect(column('defaults', 'deadline')).toBeUndefined();
  });

  it('come as one event, and then point by point', () => {
    const begun = recorder.latest;
    expect(dataOf<HistoryEvent>(recorder.since(undefined))).toMatchObject({ times: [], columns: [] });
    expect(recorder.since(begun)).toBe('');
    sources.answer('a', 1);
    pass();
    const point = dataOf<PointEvent>(recorder.since(begun));
    expect(point.atMs).toBe(sources.atMs);
    expect(point.values).toContainEqual(['rate', 'predicted', 0.5]);
    pass();
    expect(recorder.since(begun)).toMatch(/^event: history\n/);
    expect(recorder.since(recorder.latest - 1)).toMatch(/^event: point\n/);
  });

  it('are as many points as they may be, of a thousand applications and models as of a few', () => {
    const sizes: number[] = [];
    for (let round = 0; round < 2; round++) {
      for (let point = 0; point < POINTS; point++) {
        for (let k = 0; k < 1000; k++) {
          // One of them is busy all the while.
          sources.answer(k === 0 ? 'busy' : `a${round}-${k}`, 1 + k / 7);
          if (k === 0) for (let more = 0; more < 50; more++) sources.answer('busy', 3);
          sources.batch(`m${round}-${k}`, '1', 1 + (k % 5), k / 3);
          if (point > 5 && k === 40) break;
        }
        pass();
      }
      const text = recorder.since(undefined);
      const { times, columns } = dataOf<HistoryEvent>(text);
      expect(times).toHaveLength(POINTS);
      expect(columns.every(([, , values]) => values.length === POINTS)).toBe(true);
      const names = columns.filter(([chart]) => chart === 'applicationP99').map(([, name]) => name);
      expect(names).toContain('busy');
      expect(names.length).toBeLessThanOrEqual(MOST_RECORDED);
      sizes.push(text.length);
    }
    expect(Math.max(...sizes)).toBeLessThan(400_000);
    expect(sizes[1] / sizes[0]).toBeLessThan(1.3);
  }, 60_000);

  it('have what GPUs did, and what was taken off them', () => {
    const node = (ns: number, kills: number, launched: number) => ({
      node: 'n1',
      replicas: 1,
      busyHostSeconds: 0,
      busySimulatedSeconds: 0,
      dilation: undefined,
      hostBusyShare: undefined,
      clockLagSeconds: 0,
      room: emptyRoom('n1'),
      gpus: [],
      spans: [
        {
          latest: gpuSample(ns, {
            launched,
            preemptions: { ...gpuSample(ns).preemptions, kills },
          }),
          earlier: undefined,
        },
      ],
    });
    sources.reports = [node(1e9, 0, 100)];
    pass();
    sources.reports = [node(2e9, 3, 400)];
    pass();
    sources.reports = [node(2e9, 3, 400)];
    pass();
    // Its thread has died, and begun anew.
    sources.reports = [node(1e6, 0, 1)];
    pass();
    expect(column('gpuBusy', 'n1/0')).toEqual([null, 0.75, 0, null]);
    expect(column('gpuLaunches', 'n1/0')).toEqual([null, 150, 0, null]);
    expect(column('gpuKills', 'n1/0')).toEqual([null, 3, null, null]);
  });

  it('have the changes of their time, one mark for what happens again and again, and no more than so many', () => {
    const lost = { kind: 'lost', what: 'm v1, replica 0', text: 'lost' } as const;
    sources.change({ at: sources.atMs, ...lost });
    sources.change({ at: sources.atMs + 1, ...lost });
    pass();
    expect(dataOf<PointEvent>(recorder.since(recorder.latest - 1)).changes).toHaveLength(1);
    expect(history().changes).toMatchObject([{ at: 1_000_001, what: 'm v1, replica 0' }]);
    for (let k = 0; k < 10 * MOST_CHANGES; k++) {
      sources.change({ at: sources.atMs, kind: 'deploy', what: `m${k}`, text: 'deployed' });
    }
    pass();
    expect(history().changes).toHaveLength(MOST_CHANGES);
    for (let k = 0; k < 10 * MOST_CHANGES; k++) {
      sources.change({ at: sources.atMs, kind: k % 2 === 0 ? 'alert' : 'resolved', what: `a${k}`, text: '' });
    }
    pass();
    const kinds = history().changes.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'deploy')).toHaveLength(MOST_CHANGES);
    expect(kinds).toHaveLength(MOST_CHANGES + MOST_ALERTS);
    pass(POINTS + 1);
    expect(history().changes).toEqual([]);
  });

  it('begin afresh when the clock is set back', () => {
    pass(3);
    const { latest } = recorder;
    sources.atMs -= 60_000;
    vi.advanceTimersByTime(EVERY_MS);
    expect(history().times).toEqual([sources.atMs]);
    expect(recorder.since(latest)).toMatch(/^event: history\n/);
  });

  it('follow the weights of an application with models to choose from, under whatever name', async () => {
    await sources.addApplication('__proto__'.replaceAll('_', 'p'));
    await sources.addApplication('constructor');
    await sources.addModel('m', 'constructor');
    sources.shares.set('constructor', new Map([['m', 1]]));
    pass();
    expect(column('weights/constructor', 'm')).toEqual([1]);
    await sources.registry.deleteApplication('constructor');
    pass();
    expect(column('weights/constructor', 'm')?.at(-1) ?? null).toBeNull();
  });

  it('do without a tally that is gone, and begin a new one under its name at zero', async () => {
    await sources.addApplication('a');
    for (let k = 0; k < 10; k++) sources.answer('a', 5);
    pass();
    await sources.registry.deleteApplication('a');
    await sources.addApplication('a');
    sources.answer('a', 5);
    sources.answer('a', 5);
    pass();
    expect(column('applicationRate', 'a')).toEqual([5, 1]);
  });
});

describe('the busiest names', () => {
  it('stay chosen unless another one is twice as busy, and go when they rest', () => {
    const busiest = new Busiest(2);
    busiest.note([
      ['a', 10],
      ['b', 8],
      ['c', 1],
    ]);
    expect(['a', 'b', 'c'].filter((name) => busiest.has(name))).toEqual(['a', 'b']);
    for (let k = 0; k < 3; k++) busiest.note([['c', 3]]);
    expect(busiest.has('c')).toBe(false);
    for (let k = 0; k < 20; k++) busiest.note([['c', 10]]);
    expect(busiest.has('c')).toBe(true);
    for (let k = 0; k < 1000; k++) busiest.note([]);
    expect(['a', 'b', 'c'].some((name) => busiest.has(name))).toBe(false);
  });
});

describe('the latency of what is counted', () => {
  const sources = new FakeSources();
  const tallyOf = (name: string) => {
    const [found] = [...sources.traffic().applications].filter((of) => of.name === name);
    return found.latency;
  };

  it('is that of two looks together, whatever was counted before', () => {
    for (let k = 0; k < 1000; k++) sources.answer('a', 500);
    const reader = new LatencyReader();
    reader.take([tallyOf('a')]);
    expect(reader.take([tallyOf('a')])).toBeNull();
    for (let k = 0; k < 10; k++) sources.answer('a', 2);
    const found = reader.take([tallyOf('a')]);
    expect(isAbout(found?.p50Ms, 2)).toBe(true);
    expect(isAbout(found?.p99Ms, 2)).toBe(true);
  });

  it('of several tallies is that of all, and one that is gone takes only its own with it', () => {
    const reader = new LatencyReader();
    sources.answer('b', 30);
    reader.take([tallyOf('a'), tallyOf('b')]);
    for (let k = 0; k < 3; k++) sources.answer('b', 30);
    expect(isAbout(reader.take([tallyOf('a'), tallyOf('b')])?.p50Ms, 30)).toBe(true);
    expect(reader.take([tallyOf('b')])).toBeNull();
    sources.answer('b', 70);
    expect(isAbout(reader.take([tallyOf('b')])?.p50Ms, 70)).toBe(true);
    expect(reader.take([])).toBeNull();
  });
});
