import { describe, expect, it } from 'vitest';
import { Serving } from './tests/serving.js';

const MS = 1e6;
const SECONDS = 1000;
const PATIENT_US = 60e6;

/** Asks one query after the other, each once the one before is answered. */
function ask(serving: Serving, queries: number, from = 0): string[] {
  const ids = [];
  for (let at = 0; at < queries; at++) {
    const id = serving.predict(from + at);
    ids.push(id);
    while (!serving.answers.some(({ queryId }) => queryId === id) && serving.clock.step());
  }
  return ids;
}

describe('a replica that hangs', () => {
  it('is out of rotation within two seconds, and a sibling answers what it had', () => {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 8 }, PATIENT_US);
    const hangs = (element: number): boolean => element === 666;
    const hung = serving.container({ replica: 'hung', hangs, serviceNs: () => 10 * MS });
    ask(serving, 20);
    const ids = [666, 1001, 1002].map((element) => serving.predict(element));
    const sentNs = serving.clock.nowNs();
    serving.run(sentNs / MS + 5);
    const behind = serving.predict(1003);
    const healthy = serving.container({ replica: 'healthy', serviceNs: () => 10 * MS });
    while (!hung.closed) serving.clock.step();
    expect(serving.clock.nowNs() - sentNs).toBeLessThan(2 * SECONDS * MS);
    serving.run();
    for (const id of [...ids, behind]) expect(serving.answer(id).isDefault).toBe(false);
    expect(healthy.items).toBe(4);
    expect(serving.observer.events).toEqual([
      'down hung: it hangs: no answer to a batch of 3 for 1.25 s, where 1.00 s is the longest that is waited',
    ]);
  });

  it('is asked nothing more while others answer, long before it is lost', () => {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 8 }, 100_000);
    const hangs = (element: number): boolean => element === 666;
    for (const replica of ['r0', 'r1']) serving.container({ replica, hangs, serviceNs: () => 10 * MS });
    const ids: string[] = [];
    for (let at = 0; at < 600; at++) {
      serving.run(2 * at);
      ids.push(serving.predict(at === 300 ? 666 : at));
    }
    const lost = ids.filter((id) =>
      serving.answers.some(({ queryId, isDefault }) => queryId === id && isDefault),
    );
    expect(serving.engine.replicas()).toHaveLength(2);
    // What it had in flight, and what came in the first 50 ms or so.
    expect(lost.length).toBeLessThan(30);
  });

  it('is asked nothing more from its first batch on, by what its siblings take', () => {
    const serving = new Serving().simple({ strategy: 'aimd' }, 100_000);
    const serviceNs = (items: number): number => 5 * MS + items * 0.25 * MS;
    const ids: string[] = [];
    const load = (queries: number): void => {
      for (let at = 0; at < queries; at++) {
        ids.push(serving.predict(ids.length));
        serving.run(serving.clock.nowNs() / MS + 1);
      }
    };
    for (const replica of ['r0', 'r1']) serving.container({ replica, serviceNs, credits: 2 });
    load(500);
    serving.container({ replica: 'hung', manual: true, credits: 2 });
    load(5000);
    serving.run(serving.clock.nowNs() / MS + 100);
    // What came in the first 50 ms or so, at a third of 1,000 a second.
    expect(ids.filter((id) => serving.answer(id).isDefault).length).toBeLessThan(20);
  });

  it('is found out while it answers other batches, but never the oldest', () => {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 1 }, PATIENT_US);
    const container = serving.container({ manual: true, credits: 2 });
    const answer = (batch: number): void => {
      container.give(container.frames[batch], container.resultsOf(container.frames[batch]));
    };
    serving.predict(0);
    serving.run(1);
    answer(0);
    serving.predict(1);
    serving.run(2);
    for (let at = 2; at < 30 && !container.closed; at++) {
      serving.predict(at);
      serving.run(at * 100);
      if (!container.closed) answer(at);
    }
    expect(container.closed).toBe(true);
    expect(serving.clock.nowNs()).toBeLessThan(2 * SECONDS * MS);
  });

  it('is waited for no longer once it is known to be fast, and as long as asked before it has answered anything', () => {
    const serving = new Serving({ hangWatchdog: { firstAnswerMs: 30 * SECONDS } }).simple(undefined, 300e6);
    const silent = serving.container({ manual: true });
    serving.predict(1);
    serving.run(29 * SECONDS);
    expect(silent.closed).toBe(false);
    serving.run(31 * SECONDS);
    expect(silent.closed).toBe(true);
    const quick = serving.container({ manual: true, replica: 'quick' });
    serving.predict(2);
    serving.run(31.01 * SECONDS);
    quick.give(quick.frames[0], quick.resultsOf(quick.frames[0]));
    serving.predict(3);
    serving.run(33 * SECONDS);
    expect(quick.closed).toBe(true);
  });

  it('keeps nobody from closing the engine', () => {
    const serving = new Serving().simple();
    serving.container({ manual: true });
    serving.predict(1);
    serving.run(1);
    serving.engine.close();
    expect(serving.clock.nextEventNs()).toBeUndefined();
  });
});

describe('a model that is slow and not hanging', () => {
  it.each([5, 20, 50])('keeps its replica through batches of %d s, from the first one on', (seconds) => {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 4 }, 600e6);
    const container = serving.container({ serviceNs: () => seconds * SECONDS * MS, credits: 2 });
    const ids = Array.from({ length: 10 }, (_, at) => serving.predict(at));
    serving.run();
    expect(container.closed).toBe(false);
    for (const id of ids) expect(serving.answer(id).isDefault).toBe(false);
  });

  it('may take longer for a batch that is larger than all before it', () => {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 64 }, 600e6);
    const container = serving.container({ serviceNs: (items) => items * 500 * MS });
    ask(serving, 20);
    for (let at = 0; at < 64; at++) serving.predict(100 + at);
    serving.run();
    expect(container.sizes.at(-1)).toBe(64);
    expect(container.closed).toBe(false);
  });

  it('may become slower than ever: one long batch is a measure for the next', () => {
    const serving = new Serving().simple({ strategy: 'none' }, 600e6);
    let tookNs = 10 * MS;
    const container = serving.container({ serviceNs: () => tookNs });
    for (const ms of [10, 900, 5000, 30_000]) {
      tookNs = ms * MS;
      ask(serving, 10, ms * 100);
    }
    expect(container.closed).toBe(false);
    expect(serving.answers.every(({ isDefault }) => !isDefault)).toBe(true);
  });

  it('keeps most of its replicas even when it becomes slow all at once', () => {
    const serving = new Serving().simple({ strategy: 'none' }, 600e6);
    let tookNs = 10 * MS;
    const containers = Array.from({ length: 8 }, (_, at) =>
      serving.container({ replica: `r${at}`, serviceNs: () => tookNs }),
    );
    for (let at = 0; at < 80; at++) serving.predict(at);
    serving.run();
    tookNs = 4 * SECONDS * MS;
    const ids = Array.from({ length: 30 }, (_, at) => {
      const id = serving.predict(1000 + at);
      serving.run(serving.clock.nowNs() / MS + 500);
      return id;
    });
    serving.run();
    expect(containers.filter(({ closed }) => closed).length).toBeLessThanOrEqual(4);
    expect(ids.filter((id) => serving.answer(id).isDefault)).toEqual([]);
  });

  it('is given six seconds by the thread that it shares: kernel models wait while a kernel of another one never ends', () => {
    const serving = new Serving().simple({ strategy: 'none' }, 60e6);
    const { registry } = serving;
    const container = { kind: 'kernelModel', path: 'models/m' } as const;
    const record = registry.model('m', '1');
    if (record === undefined) throw new Error('no model');
    registry.putModel({ ...record, container });
    const replica = serving.container({ hangs: (element) => element === 666, serviceNs: () => 10 * MS });
    ask(serving, 10);
    serving.predict(666);
    const sinceMs = serving.clock.nowNs() / MS;
    serving.run(sinceMs + 5.5 * SECONDS);
    expect(replica.closed).toBe(false);
    serving.run(sinceMs + 7 * SECONDS);
    expect(replica.closed).toBe(true);
  });

  it('is left alone where nobody wants a watchdog', () => {
    const serving = new Serving({ hangWatchdog: false }).simple();
    const container = serving.container({ hangs: (element) => element === 666 });
    ask(serving, 10);
    serving.predict(666);
    serving.run(100 * SECONDS);
    expect(container.closed).toBe(false);
  });

  it.each([
    { minimumMs: 0 },
    { sharedThreadMs: 0 },
    { factor: 0.5 },
    { firstAnswerMs: NaN },
    { minimumMs: Infinity },
  ])('has no limits like %j', (hangWatchdog) => {
    expect(() => new Serving({ hangWatchdog }).engine).toThrow(
      /hangWatchdog\.\w+ must be a number of at least 1/,
    );
  });
});
