import { afterAll, describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { parseModule } from '../../../ptx/index.js';
import { kernelFixtures, PlacedFixture, type KernelFixture } from '../../../laboratory/kernels/index.js';
import { generateKernel } from '../../../laboratory/fuzz/index.js';
import { FuzzBench } from '../../../laboratory/fuzz/index.js';
import { ExecutorError } from '../index.js';
import { NodeMemory, WasmExecutor, type ExecutorLaunch, type RunResult } from '../../index.js';
import { sampleOf } from '../../../laboratory/testSample/index.js';
import { LaunchBench, storingKernel } from '../../tests/launchBench.js';

/** Every launch that may be is shared, block by block, and none begins before all threads are there. */
const eager = { eager: true } as const;

/** Programs whose launches are shared, and such that are not. */
const SHARED: readonly string[] = [
  'saxpy',
  'naiveGemm',
  'tiledGemm',
  'warpSum',
  'sharedHistogram',
  'csrVector',
];
const ORDERED: readonly string[] = [
  'cooAtomics',
  'lookbackScan',
  'lastBlockSum',
  'lockedBuckets',
  'cooperativeHeat',
];
const NAMED = [...SHARED, ...ORDERED];

interface Node {
  readonly threads: number;
  readonly memory: NodeMemory;
  readonly executor: WasmExecutor;
}

const nodes: readonly Node[] = [1, 2, 4].map((threads) => {
  const memory = new NodeMemory({ backingBytes: 512 * 2 ** 20 });
  return { threads, memory, executor: new WasmExecutor(memory, { threads, parallel: eager }) };
});
afterAll(() => {
  for (const { executor } of nodes) executor.close();
});

/** All that can be seen of a run besides memory. */
function seen(result: RunResult): unknown {
  const { status, counters, printed } = result;
  return { status, counters, printed, fault: status === 'fault' ? result.fault : undefined };
}

function runAll(executor: WasmExecutor, launch: ExecutorLaunch): unknown {
  const [x, y, z] = launch.shape.grid;
  return seen(executor.run(launch, { lo: 0, hi: x * y * z }, 'fast', 50_000_000));
}

describe('launches over threads', () => {
  /** What a fixture's launches leave, and how many of them were shared. */
  function outcome(fixture: KernelFixture, { memory, executor }: Node): { left: unknown; shared: number } {
    const space = memory.createSpace();
    const before = executor.sharedLaunches;
    const placed = new PlacedFixture(fixture, space);
    const ir = parseModule(readFileSync(fixture.ptx, 'utf8'), `${fixture.name}.ptx`);
    const results = placed.launches(ir).map((launch) => runAll(executor, launch));
    const left = { results, buffers: placed.read() };
    memory.destroySpace(space);
    return { left, shared: executor.sharedLaunches - before };
  }

  it('leave the same bytes and counters as one thread: the CUDA programs', () => {
    const shared = new Set<string>();
    for (const fixture of sampleOf(kernelFixtures, 8, ({ name }) => NAMED.includes(name))) {
      // Four threads are slower than two here, and find little more.
      const [one, ...others] = nodes.filter(({ threads }) => threads < 4 || fixture.name.length % 8 === 0);
      if (one === undefined) continue;
      const { left } = outcome(fixture, one);
      for (const node of others) {
        const found = outcome(fixture, node);
        if (found.shared > 0) shared.add(fixture.name);
        expect(found.left, `${fixture.name}, ${node.threads} threads`).toEqual(left);
      }
    }
    expect(shared.size).toBeGreaterThan(10);
    for (const name of SHARED) expect(shared).toContain(name);
    // What shows the order of blocks runs in order.
    for (const name of ORDERED) expect(shared).not.toContain(name);
  });

  it('leave the same bytes and counters as one thread: random kernels', () => {
    let shared = 0;
    // Seeds of kernels most of which may be shared.
    for (const [generation, seed] of [
      ...[10, 18, 27, 36].map((each) => [1, each] as const),
      ...[3, 84].map((each) => [2, each] as const),
    ]) {
      const fuzz = generateKernel(seed, { generation });
      const [one, ...others] = nodes.map(({ memory, executor }) => {
        const bench = new FuzzBench(fuzz, memory);
        const before = executor.sharedLaunches;
        const left = [runAll(executor, bench.launch), bench.contents()];
        bench.close();
        return { left, shared: executor.sharedLaunches - before };
      });
      for (const other of others) {
        shared += other.shared;
        expect(other.left, `seed ${seed}`).toEqual(one?.left);
      }
    }
    expect(shared).toBeGreaterThan(6);
  });
});

describe('what happens inside a shared launch', () => {
  const benches = [1, 2, 4].map((threads) => new LaunchBench({ threads, parallel: eager }));
  afterAll(() => {
    for (const { executor } of benches) executor.close();
  });
  const grid = [200, 1, 1] as const;
  const block = [64, 1, 1] as const;
  const words = grid[0] * block[0];

  /** The same launch on one, two and four threads: what is seen, the output and how many were shared. */
  function onEach(text: string, n = 0, fuel = 1e7): { seen: unknown; words: number[]; shared: number }[] {
    return benches.map((bench) => {
      const out = bench.buffer(words);
      const before = bench.executor.sharedLaunches;
      const result = bench.run(text, { values: [out, n], grid, block, fuel });
      return {
        seen: seen(result),
        words: bench.words(out, words),
        shared: bench.executor.sharedLaunches - before,
      };
    });
  }

  it('integer atomics of many blocks on the same words add up', () => {
    const updates = ['add.u32', 'min.s32', 'max.u32', 'and.b32', 'or.b32', 'xor.b32', 'add.u64', 'max.u64'];
    const lines = updates.map((update, index) => {
      const [value, address] = update.endsWith('64')
        ? ['%rd4', `%rd0+${8 * index}`]
        : ['%r5', `%rd0+${8 * index}`];
      return `red.global.${update} [${address}], ${value};`;
    });
    const text = storingKernel(`mov.u32 %r4, %ctaid.x;
mad.lo.s32 %r5, %r4, 2654435, %r1;
mul.wide.u32 %rd4, %r5, 40503;
${lines.join('\n')}
ret;`);
    const [one, ...others] = onEach(text);
    expect(one?.words.slice(0, 16).filter((word) => word !== 0).length).toBeGreaterThan(6);
    for (const other of others) {
      expect(other.shared).toBe(1);
      expect(other).toEqual({ ...one, shared: 1 });
    }
  });

  it('the fault of the lowest block is the one reported, with the counters of the blocks up to it', () => {
    // Blocks 61, 62, 130 … read where nothing is; the later ones come to it sooner.
    const text = storingKernel(`mov.u32 %r4, %ctaid.x;
mov.u32 %r9, 7;
setp.lt.u32 %p1, %r4, 61;
@%p1 bra GO;
sub.u32 %r5, 400, %r4;
SPIN: add.u32 %r9, %r9, %r5;
sub.u32 %r5, %r5, 1;
setp.gt.s32 %p2, %r5, 0;
@%p2 bra SPIN;
and.b32 %r6, %r4, 1;
setp.eq.u32 %p3, %r6, 0;
@%p3 bra GO;
mul.wide.u32 %rd4, %r4, 4;
ld.global.nc.u32 %r9, [%rd4];
GO:`);
    const [one, ...others] = onEach(text);
    expect(one?.seen).toMatchObject({
      status: 'fault',
      fault: { code: 'illegalAddress', block: [61, 0, 0] },
    });
    for (const other of others) {
      expect(other.shared).toBe(1);
      expect(other.seen).toEqual(one?.seen);
      const before = 61 * block[0];
      expect(other.words.slice(0, before)).toEqual(one?.words.slice(0, before));
    }
  });

  it('fuel ends an endless block as it does on one thread', () => {
    const text = storingKernel(`mov.u32 %r4, %ctaid.x;
mov.u32 %r9, 1;
setp.ne.u32 %p1, %r4, 150;
@%p1 bra GO;
AGAIN: add.u32 %r9, %r9, 3;
bra AGAIN;
GO:`);
    const [one, ...others] = onEach(text, 0, 100_000);
    expect(one?.seen).toMatchObject({
      status: 'fault',
      fault: { code: 'fuelExhausted', block: [150, 0, 0] },
    });
    for (const other of others) expect(other.seen).toEqual(one?.seen);
  });

  it('faults at barriers in blocks whose lanes part', () => {
    const text = storingKernel(`mov.u32 %r4, %ctaid.x;
mov.u32 %r9, 1;
setp.ne.u32 %p1, %r4, 93;
setp.lt.u32 %p2, %r1, 8;
or.pred %p3, %p1, %p2;
@%p3 bra BOTH;
bar.sync 0;
add.u32 %r9, %r9, 1;
bra.uni GO;
BOTH: bar.sync 0;
add.u32 %r9, %r9, 2;
GO:`);
    const [one, ...others] = onEach(text);
    for (const other of others) expect(other.seen).toEqual(one?.seen);
  });

  it('memory that grows between launches is seen by every thread', () => {
    const text = storingKernel(`mov.u32 %r4, %ctaid.x;
mad.lo.s32 %r9, %r4, 64, %r1;
add.u32 %r9, %r9, %r0;`);
    for (const n of [5, 9]) {
      const [one, ...others] = onEach(text, n);
      expect(one?.words[words - 1]).toBe(words - 1 + n);
      for (const other of others) expect(other).toEqual({ ...one, shared: 1 });
      for (const bench of benches) bench.buffer(8 * 2 ** 20);
    }
  });

  it('a snapshot holds nothing of the threads, and launches go on after it has been restored', () => {
    const [, bench] = benches;
    if (bench === undefined) throw new Error('no bench');
    const text = storingKernel('mov.u32 %r9, %r0;');
    const out = bench.buffer(words);
    bench.run(text, { values: [out, 3], grid, block });
    const { memory } = bench;
    const hash = memory.hash();
    const snapshot = memory.snapshot();
    bench.run(text, { values: [out, 4], grid, block });
    memory.restore(snapshot);
    expect(memory.hash()).toBe(hash);
    bench.run(text, { values: [out, 5], grid, block });
    expect(bench.words(out, words).every((word) => word === 5)).toBe(true);
  });
});

describe('threads that are lost', () => {
  const text = storingKernel('mov.u32 %r9, 11;');
  const launch = { grid: [64, 1, 1], block: [32, 1, 1] } as const;

  /** A bench whose second thread runs this code. */
  function benchWith(code: string, isEager = true): LaunchBench {
    const file = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
    return new LaunchBench({ threads: 2, parallel: { eager: isEager, file, patienceMs: 300 } });
  }
  const onLaunch = (what: string): string => `import { workerData } from 'node:worker_threads';
workerData.port.on('message', (message) => {
  if (message.kind !== 'launch') return;
  const words = new Int32Array(message.queue);
  const enter = (state) => { Atomics.store(words, 2 + message.helper, state); Atomics.notify(words, 2 + message.helper); };
  ${what}
});`;

  it('before they took blocks: the launch ends without them', () => {
    const bench = benchWith(onLaunch('process.exit();'), false);
    const out = bench.buffer(64 * 32);
    // Enough work to call for threads.
    const long = storingKernel(`mov.u32 %r9, 11;
mov.u32 %r5, 8000;
AGAIN: sub.u32 %r5, %r5, 1;
setp.ne.u32 %p1, %r5, 0;
@%p1 bra AGAIN;`);
    for (const shared of [1, 2]) {
      expect(bench.run(long, { values: [out, 0], ...launch }).status).toBe('done');
      expect(bench.executor.sharedLaunches).toBe(shared);
    }
    expect(bench.words(out, 64 * 32).every((word) => word === 11)).toBe(true);
    bench.executor.close();
  });

  it('because they cannot begin: that launch and those after it end without them', () => {
    const bench = benchWith(
      onLaunch(`workerData.port.postMessage({ kind: 'failed', reason: 'no such kernel' }); enter(4);`),
    );
    const out = bench.buffer(64 * 32);
    for (const expected of [1, 1]) {
      expect(bench.run(text, { values: [out, 0], ...launch }).status).toBe('done');
      expect(bench.executor.sharedLaunches).toBe(expected);
    }
    expect(bench.words(out, 64 * 32).every((word) => word === 11)).toBe(true);
    bench.executor.close();
  });

  it.each([
    [
      'that die with blocks they had taken',
      'enter(1); Atomics.add(words, 0, 1); process.exit();',
      /has not ended/,
    ],
    [
      'that fail with blocks they had taken',
      `enter(1); Atomics.add(words, 0, 1); workerData.port.postMessage({ kind: 'failed', reason: 'oh no' }); enter(3);`,
      /oh no/,
    ],
  ])('%s: the launch is an error by name, the next ones run', (_, what, message) => {
    const bench = benchWith(onLaunch(what));
    const out = bench.buffer(64 * 32);
    const run = (): RunResult => bench.run(text, { values: [out, 0], ...launch });
    let found: unknown;
    try {
      run();
    } catch (error) {
      found = error;
    }
    expect(found).toBeInstanceOf(ExecutorError);
    expect(found).toMatchObject({ code: 'threadLost', message: expect.stringMatching(message) as string });
    bench.executor.close();
    expect(run().status).toBe('done');
    expect(bench.words(out, 64 * 32).every((word) => word === 11)).toBe(true);
  });

  it('closed executors run on the caller alone', () => {
    const bench = new LaunchBench({ threads: 4, parallel: eager });
    bench.executor.close();
    const out = bench.buffer(64 * 32);
    expect(bench.run(text, { values: [out, 0], ...launch }).status).toBe('done');
    expect(bench.executor.sharedLaunches).toBe(0);
  });
});
