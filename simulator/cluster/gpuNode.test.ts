import { describe, expect, it } from 'vitest';
import type { DriverCommand, Interposer } from '../driver/index.js';
import { VirtualClock } from '../time/index.js';
import { FAKE_PTX, FakeExecutor } from './tests/fakeExecutor.js';
import { Session, pointerParams } from './tests/session.js';
import { GpuNode, type GpuNodeOptions } from './index.js';

const OPTIONS: GpuNodeOptions = {
  gpus: ['h200'],
  backingBytes: 64 * 2 ** 20,
  executor: () => new FakeExecutor(),
};

function open(options: Partial<GpuNodeOptions> = {}): {
  clock: VirtualClock;
  node: GpuNode;
  session: Session;
} {
  const clock = new VirtualClock();
  const node = new GpuNode(clock, { ...OPTIONS, ...options });
  return { clock, node, session: new Session(node, clock).open() };
}

function launch(
  module: number,
  kernel: string,
  blocks: number,
  params: Uint8Array,
): Extract<DriverCommand, { op: 'launch' }>['args'] {
  return { module, kernel, grid: [blocks, 1, 1], block: [256, 1, 1], dynamicSharedBytes: 0, params };
}

describe('commands', () => {
  it('runs a program: allocate, copy in, launch, copy out', () => {
    const { session } = open();
    const module = session.handle('moduleLoad', { ptx: FAKE_PTX, file: 'fake.ptx' });
    const address = session.handle('malloc', { bytes: 4000 });
    session.send('memcpyHostToDevice', { address, bytes: new Uint8Array(4000).fill(1), pinned: true });
    session.send('launch', launch(module, 'add', 1000, pointerParams(address, 2)));
    const { result } = session.call('memcpyDeviceToHost', { address, bytes: 4000, pinned: true });
    expect(new Uint32Array(result?.bytes?.buffer ?? new ArrayBuffer(0))).toEqual(
      new Uint32Array(1000).fill(0x01010103),
    );
    const report = session.completions.find((completion) => completion.op === 'launch')?.result?.launch;
    expect(report).toMatchObject({ kernel: 'add', warpInstructions: 4_000_000 });
    expect((report?.endNs ?? 0) - (report?.startNs ?? 0)).toBeGreaterThan(1150);
  });

  it('never completes inside submit', () => {
    const { session } = open();
    session.send('streamSynchronize', {});
    expect(session.completions).toHaveLength(1);
  });

  it.each([
    ['free', { address: 12345 }, 'invalidHandle', 'address'],
    ['malloc', { bytes: 0 }, 'invalidValue', 'bytes'],
    ['malloc', { bytes: 2 ** 40 }, 'outOfDeviceMemory', '141 GB'.slice(0, 0)],
    ['malloc', { bytes: 100 * 2 ** 20 }, 'outOfBackingMemory', ''],
    ['moduleLoad', { ptx: 'not ptx', file: 'x.ptx' }, 'invalidModule', 'x.ptx'],
    ['memcpyDeviceToHost', { address: 99, bytes: 4, pinned: true }, 'invalidValue', 'address'],
    ['eventRecord', { event: -1 }, 'invalidHandle', 'event'],
  ] as const)('refuses %s %j', (op, args, code, named) => {
    const { session } = open();
    const { failure } = session.call(op, args);
    expect(failure?.code).toBe(code);
    expect(failure?.message).toContain(named);
  });

  it('refuses contexts and streams that are not there', () => {
    const { session } = open();
    expect(session.call('streamSynchronize', {}, 77).failure?.code).toBe('invalidStream');
    session.context = 99;
    expect(session.call('malloc', { bytes: 4 }).failure?.code).toBe('invalidContext');
  });

  it.each([
    [{ block: [2048, 1, 1] }, 'block.x: 2048'],
    [{ block: [1024, 2, 1] }, '2048 threads'],
    [{ grid: [1, 70000, 1] }, 'grid.y: 70000'],
    [{ grid: [0, 1, 1] }, 'grid.x: 0'],
    [{ dynamicSharedBytes: 300_000 }, '232448'],
    [{ params: new Uint8Array(3) }, 'takes 12'],
    [{ controls: { tpcMask: '0' } }, 'tpcMask'],
    [{ controls: { blocks: { lo: 2, hi: 50 } } }, 'controls.blocks'],
  ])('refuses the launch %j', (change, message) => {
    const { session } = open();
    const module = session.handle('moduleLoad', { ptx: FAKE_PTX, file: 'fake.ptx' });
    const address = session.handle('malloc', { bytes: 4000 });
    const args = { ...launch(module, 'add', 10, pointerParams(address, 2)), ...change } as never;
    const { failure } = session.call('launch', args);
    expect(failure?.code).toBe('invalidLaunch');
    expect(failure?.message).toContain(message);
  });

  it('leaves nothing of a context that was destroyed', () => {
    const clock = new VirtualClock();
    const node = new GpuNode(clock, {
      gpus: ['h200'],
      backingBytes: 64 * 2 ** 20,
      executor: () => new FakeExecutor(() => 1000),
    });
    const session = new Session(node, clock).open();
    const other = new Session(node, clock).open();
    node.giveShare(other.context, 25);
    expect(node.device(0).state.shares.size).toBe(1);
    expect(other.call('contextDestroy', {}).failure).toBeUndefined();
    expect(node.device(0).state.shares.size).toBe(0);
    expect(node.snapshot().driver.hostThreads.size).toBeLessThanOrEqual(1);
    expect(session.call('contextDestroy', {}).failure).toBeUndefined();
    expect(node.snapshot().driver.hostThreads.size).toBe(0);
  });

  it('gives contexts the shares and slices that they are made with, or no context', () => {
    const make = (contexts: 'shared' | 'timeSliced', args: object): { failure?: string; node: GpuNode } => {
      const clock = new VirtualClock();
      const node = new GpuNode(clock, {
        gpus: ['h200'],
        backingBytes: 2 ** 26,
        contexts,
        executor: () => new FakeExecutor(() => 1000),
      });
      const { failure } = new Session(node, clock).call('contextCreate', { gpu: 0, ...args });
      return { node, ...(failure === undefined ? {} : { failure: `${failure.code} ${failure.message}` }) };
    };
    expect(make('shared', { activeThreadPercentage: 25 }).node.device(0).state.shares.size).toBe(1);
    expect(make('timeSliced', { timeSliceNs: 5e5 }).node.device(0).state.turns?.slices.size).toBe(1);
    for (const [contexts, args, message] of [
      ['shared', { activeThreadPercentage: 0 }, 'invalidValue activeThreadPercentage: 0;'],
      ['shared', { activeThreadPercentage: 101 }, 'invalidValue activeThreadPercentage: 101;'],
      ['shared', { activeThreadPercentage: NaN }, 'invalidValue activeThreadPercentage: NaN;'],
      ['timeSliced', { activeThreadPercentage: 50 }, 'contexts take turns on this GPU'],
      ['shared', { timeSliceNs: 1e6 }, 'invalidValue timeSliceNs: contexts of this GPU are side by side'],
      ['timeSliced', { timeSliceNs: 1 }, 'invalidValue timeSliceNs: 1;'],
      ['shared', { gpu: 7, activeThreadPercentage: 50 }, 'invalidValue gpu: 7;'],
    ] as const) {
      const { failure, node } = make(contexts, args);
      expect(failure).toContain(message);
      expect(node.reading(0).contexts).toEqual([]);
    }
  });

  it('kills only the context whose kernel faults', () => {
    const { node, clock, session } = open();
    const other = new Session(node, clock).open();
    const module = session.handle('moduleLoad', { ptx: FAKE_PTX, file: 'fake.ptx' });
    const otherModule = other.handle('moduleLoad', { ptx: FAKE_PTX, file: 'fake.ptx' });
    const address = other.handle('malloc', { bytes: 8000 });
    other.send('launch', launch(otherModule, 'add', 2000, pointerParams(address, 1)));
    const bad = session.send('launch', launch(module, 'bad', 10, pointerParams(0)));
    const behind = session.send('streamSynchronize', {});
    clock.run();
    expect(session.find(bad)?.failure).toMatchObject({
      code: 'kernelFault',
      fault: { code: 'illegalAddress' },
    });
    expect(session.find(behind)?.failure?.code).toBe('contextFaulted');
    expect(session.call('malloc', { bytes: 4 }).failure?.code).toBe('contextFaulted');
    expect(session.call('contextDestroy', {}).failure).toBeUndefined();
    expect(session.call('malloc', { bytes: 4 }).failure?.code).toBe('invalidContext');
    expect(other.completions.every((completion) => completion.failure === undefined)).toBe(true);
    expect(other.call('memcpyDeviceToHost', { address, bytes: 4, pinned: true }).result?.bytes?.[0]).toBe(1);
  });

  it('orders streams by events and lets independent streams overlap', () => {
    const { session, clock } = open();
    const a = session.handle('streamCreate', { priority: 0 });
    const b = session.handle('streamCreate', { priority: 0 });
    const address = session.handle('malloc', { bytes: 2 ** 20 });
    const copy = session.send(
      'memcpyHostToDevice',
      { address, bytes: new Uint8Array(2 ** 20), pinned: true },
      a,
    );
    session.send('eventRecord', { event: 7 }, a);
    session.send('eventWait', { event: 7 }, b);
    const after = session.send('memset', { address, value: 3, bytes: 16 }, b);
    const free = session.send('streamSynchronize', {});
    clock.run();
    const time = (ticket: number): number => session.find(ticket)?.timeNs ?? NaN;
    expect(time(after)).toBeGreaterThan(time(copy));
    expect(time(free)).toBeLessThan(time(copy));
  });

  it('waits with free until the context is done with what came before', () => {
    const { session, clock } = open();
    const stream = session.handle('streamCreate', { priority: 0 });
    const address = session.handle('malloc', { bytes: 2 ** 20 });
    const copy = session.send(
      'memcpyHostToDevice',
      { address, bytes: new Uint8Array(2 ** 20), pinned: true },
      stream,
    );
    const free = session.send('free', { address });
    clock.run();
    expect(session.find(copy)?.failure).toBeUndefined();
    expect(session.find(free)?.timeNs).toBeGreaterThanOrEqual(session.find(copy)?.timeNs ?? Infinity);
  });

  it('reports blocks when asked', () => {
    const { session, node, clock } = open();
    const module = session.handle('moduleLoad', { ptx: FAKE_PTX, file: 'fake.ptx' });
    const address = session.handle('malloc', { bytes: 40000 });
    const blocks = new Set<number>();
    const command: DriverCommand = {
      ticket: 1,
      context: session.context,
      stream: 0,
      op: 'launch',
      args: {
        ...launch(module, 'add', 3000, pointerParams(address, 1)),
        controls: { reportBlocks: true, blocks: { lo: 100, hi: 2900 }, tpcMask: '5' },
      },
    };
    node.submit(command, {
      onCompletion: () => undefined,
      onBlockDone: (notice) => {
        blocks.add(notice.block);
        expect([0, 1, 4, 5]).toContain(notice.sm);
        expect(notice.endNs).toBeGreaterThan(notice.startNs);
      },
    });
    clock.run();
    expect(blocks.size).toBe(2800);
    expect(Math.min(...blocks)).toBe(100);
  });
});

describe('interposers', () => {
  it('log, and hold, commands', () => {
    const { session, node, clock } = open();
    const log: string[] = [];
    const held: (() => void)[] = [];
    const logger: Interposer = {
      onCommand(command, next, sink) {
        log.push(command.op);
        next.submit(command, {
          onCompletion: (done) => (log.push(`${done.op} done`), sink.onCompletion(done)),
        });
      },
    };
    const holder: Interposer = {
      onCommand(command, next, sink) {
        if (command.op === 'malloc') held.push(() => next.submit(command, sink));
        else next.submit(command, sink);
      },
    };
    node.interpose(logger);
    node.interpose(holder);
    const ticket = session.send('malloc', { bytes: 8 });
    session.send('streamSynchronize', {});
    clock.run();
    expect(session.find(ticket)).toBeUndefined();
    expect(log).toEqual(['streamSynchronize', 'streamSynchronize done']);
    held.forEach((release) => release());
    clock.run();
    expect(session.find(ticket)?.result?.address).toBeGreaterThan(0);
    expect(log).toContain('malloc done');
  });
});

describe('fork', () => {
  /** Several streams and contexts with copies and kernels in flight. */
  function load(node: GpuNode, clock: VirtualClock): void {
    for (let tenant = 0; tenant < 2; tenant++) {
      const session = new Session(node, clock).open();
      node.attachSink(`tenant${tenant}`, session);
      const module = session.handle('moduleLoad', { ptx: FAKE_PTX, file: 'fake.ptx' });
      const address = session.handle('malloc', { bytes: 20_000 });
      for (let index = 0; index < 3; index++) {
        const stream = session.handle('streamCreate', { priority: index });
        for (let round = 0; round < 3; round++) {
          session.send(
            'memcpyHostToDevice',
            { address, bytes: new Uint8Array(12_000).fill(round), pinned: index > 0 },
            stream,
          );
          session.send(
            'launch',
            launch(module, 'add', 500 + 80 * index, pointerParams(address, 1 + index)),
            stream,
          );
          session.send('eventRecord', { event: index }, stream);
          session.send('eventWait', { event: (index + 1) % 3 }, stream);
          session.send('memcpyDeviceToHost', { address, bytes: 12_000, pinned: false }, stream);
        }
      }
    }
  }

  const uneven = (): FakeExecutor => new FakeExecutor((block) => 2000 + (block % 700) * 10);

  it('goes on equally from any moment, and as if it had never been forked', () => {
    const reference = open({ executor: uneven });
    load(reference.node, reference.clock);
    const loadedNs = reference.clock.nowNs();
    reference.clock.run();
    const endNs = reference.clock.nowNs();
    const expected = reference.node.hash();

    for (const share of [0.02, 0.3, 0.7]) {
      const { clock, node } = open({ executor: uneven });
      load(node, clock);
      clock.run(loadedNs + share * (endNs - loadedNs));
      const before = node.hash();
      const otherClock = new VirtualClock(clock.nowNs());
      const copy = node.fork(otherClock);
      expect(copy.hash()).toBe(before);
      otherClock.run();
      expect(node.hash()).toBe(before);
      clock.run();
      expect(copy.hash()).toBe(expected);
      expect(node.hash()).toBe(expected);
    }
  });

  it('tells the copy’s own sinks under the old names', () => {
    const { clock, node, session } = open();
    node.attachSink('tenant', session);
    session.send('streamSynchronize', {});
    session.send('malloc', { bytes: 64 });
    const otherClock = new VirtualClock(clock.nowNs());
    const copy = node.fork(otherClock);
    const ops: string[] = [];
    copy.attachSink('tenant', { onCompletion: ({ op }) => ops.push(op) });
    otherClock.run();
    expect(ops).toEqual(['streamSynchronize', 'malloc']);
    expect(session.completions).toHaveLength(1);
  });

  it('refuses a clock that stands elsewhere', () => {
    const { node } = open();
    expect(() => node.fork(new VirtualClock(1))).toThrow(/start it there/);
  });
});
