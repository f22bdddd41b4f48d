import { describe, expect, it } from 'vitest';
import type { DriverCommand, DriverCompletion, DriverOp, GraphCommand } from '../driver/index.js';
import { FAKE_PTX, FakeExecutor } from './tests/fakeExecutor.js';
import { GatedSession } from './tests/gatedSession.js';
import { pointerParams, type Session } from './tests/session.js';

interface Opened {
  readonly gated: GatedSession;
  readonly session: Session;
  readonly stream: number;
  readonly other: number;
  readonly address: number;
  /** Adds a number to the first word of memory. */
  readonly add: (amount: number, kernel?: string) => GraphCommand & { op: 'launch' };
}

function open(): Opened {
  const gated = new GatedSession({ executor: () => new FakeExecutor(() => 100) });
  const { session, stream } = gated;
  const module = session.handle('moduleLoad', { ptx: FAKE_PTX, file: 'fake.ptx' });
  const address = session.handle('malloc', { bytes: 4096 });
  const add = (amount: number, kernel = 'add'): GraphCommand & { op: 'launch' } => ({
    op: 'launch',
    args: {
      module,
      kernel,
      grid: [kernel === 'add' ? 1 : 5, 1, 1],
      block: [32, 1, 1],
      dynamicSharedBytes: 0,
      params: kernel === 'add' ? pointerParams(address, amount) : pointerParams(address),
    },
  });
  return { gated, session, stream, other: session.handle('streamCreate', { priority: 0 }), address, add };
}

/** A graph of launches one after another. */
function chain({ session, add }: Opened, length: number): number {
  const graph = session.handle('graphCreate', {});
  for (let node = 0; node < length; node++) {
    session.call('graphAddNode', { graph, after: node === 0 ? [] : [node - 1], node: add(1) });
  }
  return session.handle('graphInstantiate', { graph });
}

function firstWord({ session, address }: Opened): number {
  const { result } = session.call('memcpyDeviceToHost', { address, bytes: 4, pinned: true });
  return result?.bytes?.[0] ?? NaN;
}

function refusal(done: DriverCompletion): string | undefined {
  return done.failure?.code;
}

describe('graphs of explicit nodes', () => {
  it('run nodes in the order of their edges, those without one side by side', () => {
    const opened = open();
    const { session, stream } = opened;
    const graph = session.handle('graphCreate', {});
    const host = (hostNs: number): GraphCommand => ({ op: 'hostFunction', args: { hostNs } });
    session.call('graphAddNode', { graph, after: [], node: host(40_000) });
    session.call('graphAddNode', { graph, after: [], node: host(40_000) });
    session.call('graphAddNode', { graph, after: [0, 1], node: opened.add(5) });
    const exec = session.handle('graphInstantiate', { graph });
    const startNs = opened.gated.clock.nowNs();
    const { timeNs, result } = session.call('graphLaunch', { exec }, stream);
    expect(timeNs - startNs).toBeGreaterThan(40_000);
    expect(timeNs - startNs).toBeLessThan(60_000);
    expect(result?.nodes?.map(({ node }) => node)).toEqual([2]);
    expect(result?.nodes?.[0].result.launch?.kernel).toBe('add');
    expect(firstWord(opened)).toBe(5);
  });

  it('take less from node to node than a stream from launch to launch, as measured', () => {
    const opened = open();
    const { gated, session, stream } = opened;
    const exec = chain(opened, 20);
    session.call('graphLaunch', { exec }, stream);
    const ends = session
      .call('graphLaunch', { exec }, stream)
      .result?.nodes?.map(({ result }) => result.launch?.endNs ?? NaN);
    if (ends === undefined) throw new Error('no nodes');
    const inGraphUs = (ends[19] - ends[9]) / 10_000;
    const inStreamUs = gated.intervalUs(opened.add(1), 20);
    expect(inStreamUs - inGraphUs).toBeCloseTo(0.78, 2);
  });

  it('cost the host one call, and their nodes at the first launch', () => {
    const opened = open();
    const exec = chain(opened, 50);
    const took = (): number => {
      const startNs = opened.gated.clock.nowNs();
      const query = opened.session.send('graphLaunch', { exec }, opened.stream);
      const after = opened.session.send('streamQuery', {}, opened.other);
      opened.gated.clock.run();
      expect(opened.session.find(query)?.failure).toBeUndefined();
      return (opened.session.find(after)?.timeNs ?? NaN) - startNs;
    };
    const firstNs = took();
    expect(firstNs - took()).toBeCloseTo(50 * 1250, 0);
  });

  it('go on with changed nodes, and launches under way with the old ones', () => {
    const opened = open();
    const { session, stream, gated } = opened;
    const exec = chain(opened, 2);
    session.send('hostFunction', { hostNs: 50_000 }, stream);
    session.call('graphLaunch', { exec: chain(opened, 1) }, opened.other);
    session.call('graphExecUpdateNode', { exec, index: 1, node: opened.add(10) });
    session.send('graphLaunch', { exec }, stream);
    gated.clock.run();
    expect(firstWord(opened)).toBe(1 + 1 + 10);
    expect(refusal(session.call('graphExecUpdateNode', { exec, index: 7, node: opened.add(1) }))).toBe(
      'invalidValue',
    );
    const host: GraphCommand = { op: 'hostFunction', args: { hostNs: 1 } };
    expect(refusal(session.call('graphExecUpdateNode', { exec, index: 1, node: host }))).toBe(
      'graphExecUpdateFailure',
    );
  });

  it('one instance runs once at a time', () => {
    const opened = open();
    const { session, gated } = opened;
    const graph = session.handle('graphCreate', {});
    session.call('graphAddNode', {
      graph,
      after: [],
      node: { op: 'hostFunction', args: { hostNs: 30_000 } },
    });
    const exec = session.handle('graphInstantiate', { graph });
    const one = session.send('graphLaunch', { exec }, opened.stream);
    const two = session.send('graphLaunch', { exec }, opened.other);
    gated.clock.run();
    const gap = (session.find(two)?.timeNs ?? NaN) - (session.find(one)?.timeNs ?? NaN);
    expect(gap).toBeGreaterThanOrEqual(30_000);
  });

  it('end with a node that fails, and take their context with them when it faults', () => {
    const opened = open();
    const { session, stream } = opened;
    const graph = session.handle('graphCreate', {});
    session.call('graphAddNode', { graph, after: [], node: opened.add(1) });
    session.call('graphAddNode', { graph, after: [0], node: opened.add(0, 'bad') });
    session.call('graphAddNode', { graph, after: [1], node: opened.add(1) });
    const exec = session.handle('graphInstantiate', { graph });
    expect(refusal(session.call('graphLaunch', { exec }, stream))).toBe('kernelFault');
    expect(refusal(session.call('graphLaunch', { exec }, stream))).toBe('contextFaulted');
  });

  it.each([
    [
      'graphAddNode',
      { graph: 999, after: [], node: { op: 'hostFunction', args: { hostNs: 1 } } },
      'invalidHandle',
    ],
    ['graphLaunch', { exec: 999 }, 'invalidHandle'],
    ['graphInstantiate', { graph: 999 }, 'invalidHandle'],
    ['graphExecDestroy', { exec: 999 }, 'invalidHandle'],
  ] as const)('%s %j is refused', (op, args, code) => {
    const { session } = open();
    const { failure } = session.call<DriverOp>(op, args);
    expect(failure?.code).toBe(code);
  });

  it('nodes are held to what nodes may be, and to their context', () => {
    const { session, add } = open();
    const graph = session.handle('graphCreate', {});
    const wrong = { op: 'malloc', args: { bytes: 5 } } as unknown as GraphCommand;
    expect(session.call('graphAddNode', { graph, after: [], node: wrong }).failure?.message).toContain(
      "'malloc'",
    );
    expect(refusal(session.call('graphAddNode', { graph, after: [3], node: add(1) }))).toBe('invalidValue');
    const fill: GraphCommand = { op: 'memset', args: { address: 7, value: 0, bytes: 4 } };
    expect(refusal(session.call('graphAddNode', { graph, after: [], node: fill }))).toBe('invalidValue');
  });
});

describe('stream capture', () => {
  it('takes what a stream gets, across the streams that events join, and runs nothing', () => {
    const opened = open();
    const { session, stream, other } = opened;
    session.call('streamBeginCapture', { mode: 'global' }, stream);
    const { op, args } = opened.add(1);
    session.call(op, args, stream);
    session.call('eventRecord', { event: 1 }, stream);
    session.call('eventWait', { event: 1 }, other);
    expect(session.call('streamCaptureStatus', {}, other).result?.capture).toBe('active');
    session.call(op, args, other);
    session.call(op, args, stream);
    session.call('eventRecord', { event: 2 }, other);
    session.call('eventWait', { event: 2 }, stream);
    session.call(op, args, stream);
    const graph = session.handle('streamEndCapture', {}, stream);
    expect(session.call('streamCaptureStatus', {}, other).result?.capture).toBe('none');
    expect(firstWord(opened)).toBe(0);
    const exec = session.handle('graphInstantiate', { graph });
    expect(session.call('graphLaunch', { exec }, stream).result?.nodes).toHaveLength(4);
    expect(firstWord(opened)).toBe(4);
  });

  it.each([
    ['streamSynchronize', {}, 'streamCaptureUnsupported'],
    ['streamQuery', {}, 'streamCaptureUnsupported'],
    ['malloc', { bytes: 4 }, 'streamCaptureUnsupported'],
    ['graphLaunch', { exec: 1 }, 'streamCaptureUnsupported'],
    ['mallocAsync', { bytes: 4 }, 'streamCaptureUnsupported'],
    ['eventWait', { event: 77 }, 'streamCaptureIsolation'],
    ['eventQuery', { event: 1 }, 'capturedEvent'],
    ['eventSynchronize', { event: 1 }, 'capturedEvent'],
  ] as const)('%s is not permitted, and spoils it', (op, args, code) => {
    const { session, stream } = open();
    session.call('streamBeginCapture', { mode: 'threadLocal' }, stream);
    session.call('eventRecord', { event: 1 }, stream);
    expect(refusal(session.call<DriverOp>(op, args as DriverCommand['args'] as never, stream))).toBe(code);
    expect(session.call('streamCaptureStatus', {}, stream).result?.capture).toBe('invalidated');
    expect(refusal(session.call('streamEndCapture', {}, stream))).toBe('streamCaptureInvalidated');
    expect(session.call('streamCaptureStatus', {}, stream).result?.capture).toBe('none');
  });

  it('relaxed, permits what it does not see', () => {
    const { session, stream } = open();
    session.call('streamBeginCapture', { mode: 'relaxed' }, stream);
    expect(session.call('malloc', { bytes: 4 }).failure).toBeUndefined();
    expect(session.call('streamEndCapture', {}, stream).result?.handle).toBeDefined();
  });

  it('must be ended where it began, with all its streams joined, and does not merge', () => {
    const { session, stream, other, add } = open();
    const { op, args } = add(1);
    expect(refusal(session.call('streamEndCapture', {}, stream))).toBe('invalidValue');
    session.call('streamBeginCapture', { mode: 'relaxed' }, stream);
    expect(refusal(session.call('streamBeginCapture', { mode: 'relaxed' }, stream))).toBe('invalidValue');
    session.call('eventRecord', { event: 1 }, stream);
    session.call('eventWait', { event: 1 }, other);
    session.call(op, args, other);
    expect(refusal(session.call('streamEndCapture', {}, stream))).toBe('streamCaptureUnjoined');
    session.call('streamBeginCapture', { mode: 'relaxed' }, stream);
    session.call('eventRecord', { event: 1 }, stream);
    session.call('eventWait', { event: 1 }, other);
    expect(refusal(session.call('streamEndCapture', {}, other))).toBe('streamCaptureUnmatched');
    session.call('streamEndCapture', {}, stream);
    session.call('streamBeginCapture', { mode: 'relaxed' }, stream);
    session.call('streamBeginCapture', { mode: 'relaxed' }, other);
    session.call('eventRecord', { event: 1 }, stream);
    expect(refusal(session.call('eventWait', { event: 1 }, other))).toBe('streamCaptureMerge');
  });

  it('the legacy default stream takes no part, and is kept from waiting for one that does', () => {
    const { session } = open();
    session.context = session.handle('contextCreate', { gpu: 0, defaultStream: 'legacy' });
    const stream = session.handle('streamCreate', { priority: 0 });
    expect(refusal(session.call('streamBeginCapture', { mode: 'relaxed' }))).toBe('streamCaptureUnsupported');
    session.call('streamBeginCapture', { mode: 'relaxed' }, stream);
    expect(refusal(session.call('hostFunction', { hostNs: 1 }))).toBe('streamCaptureImplicit');
  });
});
