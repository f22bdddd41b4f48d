import { describe, expect, it } from 'vitest';
import type { DriverOp } from '../driver/index.js';
import { VirtualClock } from '../time/index.js';
import { FAKE_PTX, FakeExecutor } from './tests/fakeExecutor.js';
import { GatedSession } from './tests/gatedSession.js';
import { pointerParams, Session } from './tests/session.js';

const HOST_NS = 50_000;

function open(defaultStream?: 'legacy'): { gated: GatedSession; session: Session } {
  const gated = new GatedSession({ executor: () => new FakeExecutor(() => 20_000) });
  const { session } = gated;
  if (defaultStream !== undefined)
    session.context = session.handle('contextCreate', { gpu: 0, defaultStream });
  return { gated, session };
}

/** Occupies a stream for a while, without the device. */
function busy(session: Session, stream: number, hostNs = HOST_NS): number {
  return session.send('hostFunction', { hostNs }, stream);
}

function timeOf(session: Session, ticket: number): number {
  return session.find(ticket)?.timeNs ?? NaN;
}

describe('the legacy default stream', () => {
  it('waits for blocking streams, and they for it; non-blocking ones do not', () => {
    const { gated, session } = open('legacy');
    const blocking = session.handle('streamCreate', { priority: 0 });
    const free = session.handle('streamCreate', { priority: 0, nonBlocking: true });
    const first = busy(session, blocking);
    const aside = busy(session, free, 5 * HOST_NS);
    const legacy = busy(session, 0);
    const after = busy(session, blocking, 0);
    const besides = session.send('memset', { address: 0, value: 0, bytes: 0 }, free);
    gated.clock.run();
    expect(timeOf(session, legacy)).toBeGreaterThanOrEqual(timeOf(session, first) + HOST_NS);
    expect(timeOf(session, after)).toBeGreaterThan(timeOf(session, legacy));
    expect(timeOf(session, legacy)).toBeLessThan(timeOf(session, aside));
    expect(timeOf(session, besides)).toBeGreaterThan(timeOf(session, aside));
  });

  it('is a stream like the others unless the context asks for it', () => {
    const { gated, session } = open();
    const stream = session.handle('streamCreate', { priority: 0 });
    const first = busy(session, stream);
    const zero = busy(session, 0, 0);
    gated.clock.run();
    expect(timeOf(session, zero)).toBeLessThan(timeOf(session, first));
  });
});

describe('stream priorities', () => {
  it.each([
    [-3, 0],
    [2, 2],
    [9, 5],
  ])('%i is taken as %i', (asked, taken) => {
    const { session } = open();
    expect(session.call('streamCreate', { priority: asked }).result?.priority).toBe(taken);
  });
});

describe('events', () => {
  it('stamp times in steps of the card’s clock, 1.28 us of the stream each', () => {
    const { gated, session } = open();
    for (const event of [1, 2, 3]) session.call('eventCreate', { event });
    busy(session, gated.stream);
    for (const event of [1, 2, 3]) session.send('eventRecord', { event }, gated.stream);
    gated.clock.run();
    const elapsed = session.call('eventElapsed', { start: 1, end: 2 }).result?.elapsedMs ?? NaN;
    expect(elapsed * 1e6).toBeCloseTo(1280, 0);
    const twice = session.call('eventElapsed', { start: 1, end: 3 }).result?.elapsedMs ?? NaN;
    expect(twice).toBe(Math.fround(twice));
    expect(Math.round(twice * 1e6) % 32).toBe(0);
  });

  it('say whether their latest record has happened', () => {
    const { gated, session } = open();
    session.call('eventCreate', { event: 1 });
    expect(session.call('eventQuery', { event: 1 }).result?.ready).toBe(true);
    busy(session, gated.stream);
    session.send('eventRecord', { event: 1 }, gated.stream);
    expect(session.call('eventQuery', { event: 1 }).result?.ready).toBe(false);
    expect(session.call('streamQuery', {}, gated.stream).result?.ready).toBe(false);
    expect(session.call('eventElapsed', { start: 1, end: 1 }).failure?.code).toBe('notReady');
    const waited = session.call('eventSynchronize', { event: 1 });
    expect(waited.timeNs).toBeGreaterThan(HOST_NS);
    expect(session.call('eventQuery', { event: 1 }).result?.ready).toBe(true);
    expect(session.call('streamQuery', {}, gated.stream).result?.ready).toBe(true);
  });

  it.each([
    ['eventElapsed', { start: 1, end: 2 }, 'invalidHandle', 'end: context'],
    ['eventElapsed', { start: 3, end: 1 }, 'invalidHandle', 'never recorded'],
    ['eventElapsed', { start: 4, end: 4 }, 'invalidHandle', 'timing: true'],
    ['eventCreate', { event: 1 }, 'invalidValue', 'already'],
    ['eventDestroy', { event: 9 }, 'invalidHandle', 'no event 9'],
    ['hostFunction', { hostNs: -1 }, 'invalidValue', 'hostNs'],
    ['eventWait', { event: 1, eventContext: 99 }, 'invalidContext', '99'],
    ['freeAsync', { address: 5 }, 'invalidHandle', 'address'],
  ] as const)('%s %j is refused', (op, args, code, message) => {
    const { session } = open();
    session.call('eventCreate', { event: 1 });
    session.call('eventRecord', { event: 1 });
    session.call('eventCreate', { event: 3 });
    session.call('eventRecord', { event: 4 });
    const { failure } = session.call<DriverOp>(op, args);
    expect(failure?.code).toBe(code);
    expect(failure?.message).toContain(message);
  });

  it('may be waited for in another context, and destroyed meanwhile', () => {
    const { gated, session } = open();
    const other = new Session(gated.node, gated.clock).open();
    busy(session, gated.stream);
    const record = session.send('eventRecord', { event: 1 }, gated.stream);
    while (session.call('eventQuery', { event: 1 }).failure !== undefined);
    const wait = other.send('eventWait', { event: 1, eventContext: session.context });
    session.call('eventDestroy', { event: 1 });
    const after = other.send('hostFunction', { hostNs: 0 });
    gated.clock.run();
    expect(other.find(wait)?.failure).toBeUndefined();
    expect(timeOf(other, wait)).toBe(timeOf(session, record));
    expect(timeOf(other, after)).toBeGreaterThan(timeOf(session, record));
  });
});

describe('host functions and stream-ordered memory', () => {
  it('a host function holds up its stream and no other', () => {
    const { gated, session } = open();
    const other = session.handle('streamCreate', { priority: 0 });
    const call = busy(session, gated.stream);
    const behind = session.send('hostFunction', { hostNs: 0 }, gated.stream);
    const aside = session.send('hostFunction', { hostNs: 0 }, other);
    gated.clock.run();
    expect(timeOf(session, behind)).toBeGreaterThan(timeOf(session, call));
    expect(timeOf(session, aside)).toBeLessThan(timeOf(session, call));
  });

  it('memory is there at once and goes in the stream’s order', () => {
    const { gated, session } = open();
    busy(session, gated.stream);
    const address = session.handle('mallocAsync', { bytes: 4096 }, gated.stream);
    const use = session.send('memset', { address, value: 1, bytes: 4096 }, gated.stream);
    const gone = session.send('freeAsync', { address }, gated.stream);
    gated.clock.run();
    expect(session.find(use)?.failure).toBeUndefined();
    expect(session.find(gone)?.failure).toBeUndefined();
    expect(session.call('memset', { address, value: 1, bytes: 4096 }).failure?.code).toBe('invalidValue');
  });
});

describe('copies beside kernels', () => {
  it('a copy inside the device waits behind a kernel that fills it; one to the host does not', () => {
    const { gated, session } = open();
    const other = session.handle('streamCreate', { priority: 0 });
    const module = session.handle('moduleLoad', { ptx: FAKE_PTX, file: 'fake.ptx' });
    const address = session.handle('malloc', { bytes: 1_000_000 });
    const kernel = session.send(
      'launch',
      {
        module,
        kernel: 'add',
        grid: [20_000, 1, 1],
        block: [1024, 1, 1],
        dynamicSharedBytes: 0,
        params: pointerParams(address, 1),
      },
      gated.stream,
    );
    const inside = session.send(
      'memcpyDeviceToDevice',
      { source: address, destination: address + 500_000, bytes: 4096 },
      other,
    );
    const third = session.handle('streamCreate', { priority: 0 });
    const outside = session.send('memcpyDeviceToHost', { address, bytes: 4096, pinned: true }, third);
    gated.clock.run();
    expect(session.find(kernel)?.failure).toBeUndefined();
    expect(timeOf(session, outside)).toBeLessThan(timeOf(session, kernel));
    expect(timeOf(session, inside)).toBeGreaterThan(0.9 * timeOf(session, kernel));
  });
});

describe('forks', () => {
  it('cover captures, graphs that run, events and waits', () => {
    const run = (share: number): string => {
      const { gated, session } = open('legacy');
      const { node, clock } = gated;
      node.attachSink('one', session);
      const stream = session.handle('streamCreate', { priority: 1 });
      session.call('eventCreate', { event: 1 });
      const graph = session.handle('graphCreate', {});
      for (let node0 = 0; node0 < 6; node0++) {
        session.call('graphAddNode', {
          graph,
          after: node0 < 2 ? [] : [node0 - 2],
          node: { op: 'hostFunction', args: { hostNs: 1000 * node0 } },
        });
      }
      const exec = session.handle('graphInstantiate', { graph });
      session.send('graphLaunch', { exec }, stream);
      session.send('eventRecord', { event: 1 }, stream);
      session.send('graphLaunch', { exec });
      session.send('eventWait', { event: 1 });
      session.send('eventSynchronize', { event: 1 });
      const other = session.handle('streamCreate', { priority: 1, nonBlocking: true });
      session.send('streamBeginCapture', { mode: 'relaxed' }, other);
      session.send('hostFunction', { hostNs: 5 }, other);
      if (share < 0) {
        clock.run();
        return node.hash();
      }
      clock.run(clock.nowNs() + share * 8_000);
      const otherClock = new VirtualClock(clock.nowNs());
      const copy = node.fork(otherClock);
      expect(copy.hash()).toBe(node.hash());
      otherClock.run();
      return copy.hash();
    };
    const expected = run(-1);
    for (const share of [0.3, 0.5, 0.8]) expect(run(share)).toBe(expected);
  });
});
