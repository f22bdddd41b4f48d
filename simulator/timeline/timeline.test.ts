import { describe, expect, it } from 'vitest';
import { GpuNode } from '../cluster/index.js';
import { FAKE_PTX, FakeExecutor } from '../cluster/tests/fakeExecutor.js';
import { Session, pointerParams } from '../cluster/tests/session.js';
import { VirtualClock } from '../time/index.js';
import { Timeline, type TimelineOptions } from './index.js';
import { ruleBreaks, type Trace, type TraceEvent } from './tests/traceRules.js';

interface Recorded {
  readonly trace: Trace;
  readonly pieces: readonly string[];
  readonly node: GpuNode;
  readonly clock: VirtualClock;
  readonly sessions: readonly Session[];
}

/** Two contexts, two streams each, uneven blocks, copies, events; recorded from the first command on. */
function record(
  options: TimelineOptions & { readonly until?: number; readonly kernel?: string } = {},
): Recorded {
  const clock = new VirtualClock();
  const node = new GpuNode(clock, {
    gpus: ['h200'],
    backingBytes: 64 * 2 ** 20,
    executor: () => new FakeExecutor((block) => 1000 + 900 * (block % 7)),
  });
  const pieces: string[] = [];
  const timeline = new Timeline(node, (text) => pieces.push(text), options);
  const sessions = [new Session(node, clock).open(), new Session(node, clock).open()];
  for (const session of sessions) {
    const module = session.handle('moduleLoad', { ptx: FAKE_PTX, file: 'fake.ptx' });
    const address = session.handle('malloc', { bytes: 40_000 });
    const other = session.handle('streamCreate', { priority: 3 });
    session.send('memcpyHostToDevice', { address, bytes: new Uint8Array(4000), pinned: true });
    const launch = (kernel: string, blocks: number, stream: number): number =>
      session.send(
        'launch',
        {
          module,
          kernel,
          grid: [blocks, 1, 1],
          block: [256, 1, 1],
          dynamicSharedBytes: 0,
          params: kernel === 'bad' ? pointerParams(address) : pointerParams(address, 1),
        },
        stream,
      );
    launch('add', 1000, 0);
    launch('add', 500, 0);
    session.send('eventRecord', { event: 5 });
    session.send('eventWait', { event: 5 }, other);
    launch(options.kernel ?? 'add', 700, other);
    session.send('memset', { address, value: 1, bytes: 100 }, other);
    session.send('memcpyDeviceToHost', { address, bytes: 3000, pinned: false });
  }
  clock.run(options.until);
  timeline.end();
  return { trace: JSON.parse(pieces.join('')) as Trace, pieces, node, clock, sessions };
}

function slices(trace: Trace, category: string): TraceEvent[] {
  return trace.traceEvents.filter(({ ph, cat }) => ph === 'X' && cat === category);
}

function sum(events: readonly TraceEvent[], of: string): number {
  return events.reduce((total, { args }) => total + Number(args?.[of]), 0);
}

describe('a timeline', () => {
  it('keeps the rules of its format', () => {
    expect(ruleBreaks(record().trace)).toEqual([]);
    expect(ruleBreaks(record({ kernel: 'bad' }).trace)).toEqual([]);
  });

  it('has every block once, and agrees with what launches and copies report', () => {
    const { trace, node, sessions, clock } = record();
    const blocks = slices(trace, 'blocks');
    expect(sum(blocks, 'blocks')).toBe(2 * (1000 + 500 + 700));
    const launches = slices(trace, 'stream').filter(({ name }) => name === 'add');
    const reports = sessions.flatMap(({ completions }) =>
      completions.flatMap(({ result }) => (result?.launch === undefined ? [] : [result.launch])),
    );
    expect(launches).toHaveLength(reports.length);
    expect(sum(launches, 'dramBytes')).toBe(reports.reduce((total, { dramBytes }) => total + dramBytes, 0));
    for (const { args, dur = 0 } of launches)
      expect(Number(args?.durationUs)).toBeLessThanOrEqual(dur + 0.001);
    const copies = slices(trace, 'copy');
    expect(copies.map(({ name }) => name).sort()).toEqual(
      ['Memcpy DtoH', 'Memcpy HtoD', 'Memset'].flatMap((name) => [name, name]),
    );
    expect(sum(copies, 'bytes')).toBe(2 * (4000 + 3000 + 100));
    // The counter's integral is the node's own count, and fits into the card.
    const busySmNs = integral(trace, 'SM utilisation %', 'value', clock.nowNs()) * (132 / 100);
    expect(busySmNs / node.reading(0).smBusyNs).toBeCloseTo(1, 3);
    expect(busySmNs).toBeLessThanOrEqual(132 * clock.nowNs());
    const warpNs = integral(trace, 'resident', 'warps', clock.nowNs());
    expect(warpNs / node.reading(0).warpNs).toBeCloseTo(1, 3);
  });

  it('shows what commands have waited for', () => {
    const { trace } = record();
    const second = slices(trace, 'stream').filter(({ args }) => args?.blocks === 500);
    for (const { args } of second) expect(Number(args?.waitedUs)).toBeGreaterThan(0);
    const waits = trace.traceEvents.filter(({ ph, args }) => ph === 'b' && args?.command === 'add');
    expect(waits.length).toBeGreaterThanOrEqual(4);
    const other = slices(trace, 'stream').find(({ args }) => args?.blocks === 700);
    expect(other?.args).toMatchObject({ grid: '700x1x1', block: '256x1x1', priority: 3 });
    expect(trace.traceEvents.filter(({ name }) => name === 'record event 5')).toHaveLength(2);
    expect(slices(trace, 'stream').filter(({ name }) => name === 'wait for event 5')).toHaveLength(2);
  });

  it('shows what is under way when it ends as unfinished', () => {
    const endNs = record().clock.nowNs();
    let unfinished = 0;
    for (const part of [0.9, 0.93, 0.96, 0.99]) {
      const { trace } = record({ until: endNs * part });
      expect(ruleBreaks(trace)).toEqual([]);
      unfinished += slices(trace, 'stream').filter(({ args }) => args?.unfinished === true).length;
      expect(sum(slices(trace, 'blocks'), 'blocks')).toBeLessThanOrEqual(4400);
    }
    expect(unfinished).toBeGreaterThan(0);
  });

  it('shows the nodes of graphs beside the launch of the graph', () => {
    const clock = new VirtualClock();
    const node = new GpuNode(clock, { gpus: ['h200'], executor: () => new FakeExecutor() });
    let text = '';
    const timeline = new Timeline(node, (piece) => (text += piece));
    const session = new Session(node, clock).open();
    const module = session.handle('moduleLoad', { ptx: FAKE_PTX, file: 'fake.ptx' });
    const address = session.handle('malloc', { bytes: 4000 });
    const shape = { grid: [99, 1, 1], block: [128, 1, 1], dynamicSharedBytes: 0 } as const;
    const args = { module, kernel: 'add', ...shape, params: pointerParams(address, 1) };
    const graph = session.handle('graphCreate', {});
    session.call('graphAddNode', { graph, after: [], node: { op: 'launch', args } });
    session.call('graphAddNode', { graph, after: [], node: { op: 'launch', args } });
    session.call('graphAddNode', { graph, after: [0, 1], node: { op: 'launch', args } });
    const exec = session.handle('graphInstantiate', { graph });
    session.call('graphLaunch', { exec });
    timeline.end();
    const trace = JSON.parse(text) as Trace;
    expect(ruleBreaks(trace)).toEqual([]);
    const [launch] = slices(trace, 'stream').filter(({ name }) => name === `graph ${exec}`);
    const nodes = slices(trace, 'graph');
    expect(nodes.map(({ name }) => name)).toEqual(['add', 'add', 'add']);
    const endOf = ({ ts, dur = 0 }: TraceEvent): number => ts + dur;
    expect(nodes[2].ts).toBeGreaterThanOrEqual(Math.max(endOf(nodes[0]), endOf(nodes[1])) - 0.001);
    for (const each of nodes) {
      expect(each.ts).toBeGreaterThanOrEqual(launch.ts);
      expect(endOf(each)).toBeLessThanOrEqual(endOf(launch) + 0.001);
    }
    expect(sum(slices(trace, 'blocks'), 'blocks')).toBe(3 * 99);
  });

  it('changes nothing that is simulated', () => {
    const clock = new VirtualClock();
    const node = new GpuNode(clock, { gpus: ['h200'], executor: () => new FakeExecutor() });
    const hashes = [false, true].map((isRecorded) => {
      const fork = new VirtualClock();
      const copy = node.fork(fork);
      const timeline = isRecorded ? new Timeline(copy, () => undefined) : undefined;
      const session = new Session(copy, fork).open();
      const module = session.handle('moduleLoad', { ptx: FAKE_PTX, file: 'fake.ptx' });
      const address = session.handle('malloc', { bytes: 4000 });
      const shape = { grid: [999, 1, 1], block: [128, 1, 1], dynamicSharedBytes: 0 } as const;
      session.call('launch', { module, kernel: 'add', ...shape, params: pointerParams(address, 1) });
      timeline?.end();
      return copy.hash();
    });
    expect(hashes[0]).toBe(hashes[1]);
  });

  it('stays within its limit, well formed, and says what it left out', () => {
    const whole = record();
    const { trace, pieces } = record({ limit: 20_000 });
    expect(ruleBreaks(trace)).toEqual([]);
    const kept = trace.traceEvents.filter(({ ph }) => ph !== 'M').length;
    expect(trace.droppedEvents).toBeGreaterThan(0);
    expect(kept + trace.droppedEvents).toBe(whole.trace.traceEvents.filter(({ ph }) => ph !== 'M').length);
    const names = trace.traceEvents.filter(({ ph }) => ph === 'M');
    expect(pieces.join('').length).toBeLessThan(20_000 + 1000 + JSON.stringify(names).length);
    expect(whole.trace.droppedEvents).toBe(0);
  });

  it('hands its text on while it goes on', () => {
    const { pieces } = record();
    expect(pieces.length).toBeGreaterThan(1);
    for (const piece of pieces) expect(piece.length).toBeLessThan(40_000);
  });
});

/** Of a counter that stands until its next value. */
function integral(trace: Trace, name: string, series: string, untilNs: number): number {
  const points = trace.traceEvents.filter((event) => event.ph === 'C' && event.name === name);
  return points.reduce((total, { ts, args }, index) => {
    const nextUs = points[index + 1]?.ts ?? untilNs / 1000;
    return total + Number(args?.[series]) * (nextUs - ts) * 1000;
  }, 0);
}
