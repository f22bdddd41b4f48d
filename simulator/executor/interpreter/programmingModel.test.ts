import { describe, expect, it } from 'vitest';
import type { Dim3, ExecutorLaunch } from '../types.js';
import { FixtureBench } from './tests/fixtureBench.js';
import type { InterpreterOptions, Warp } from './index.js';
import { ReferenceInterpreter } from './index.js';

const fuel = 10_000_000;

function blocksOf(launch: ExecutorLaunch): number {
  const [x, y, z] = launch.shape.grid;
  return x * y * z;
}

function run(launch: ExecutorLaunch, options: InterpreterOptions = {}) {
  const result = new ReferenceInterpreter(options).run(launch, { lo: 0, hi: blocksOf(launch) }, 'fast', fuel);
  if (result.status !== 'done')
    throw new Error(result.status === 'fault' ? result.fault.message : result.status);
  return result.counters;
}

/** The article's launches on fresh memory; `check` reads the results. */
function saxpyCase() {
  const bench = new FixtureBench('programmingModel.ptx');
  const x = bench.upload(Float32Array.from({ length: 1000 }, (_, i) => i));
  const y = bench.upload(new Float32Array(1024).fill(1));
  const launch = bench.launch('saxpy', [4, 1, 1], [256, 1, 1], [1000, 2, x, y]);
  return { launch, read: () => bench.floats(y, 1024) };
}

const csr = {
  Ap: [0, 2, 2, 5, 7],
  Aj: [0, 2, 1, 2, 3, 0, 3],
  Av: [3, 1, 2, 4, 1, 1, 1],
  x: [1, 2, 3, 4],
};

function csrCase(kernel: string) {
  const bench = new FixtureBench('programmingModel.ptx');
  const y = bench.upload(new Float32Array(4).fill(-1));
  const args = [
    bench.upload(Int32Array.from(csr.Ap)),
    bench.upload(Int32Array.from(csr.Aj)),
    bench.upload(Float32Array.from(csr.Av)),
    4,
    bench.upload(Float32Array.from(csr.x)),
    y,
  ];
  return { launch: bench.launch(kernel, [1, 1, 1], [128, 1, 1], args), read: () => bench.floats(y, 4) };
}

function reduceCase() {
  const bench = new FixtureBench('programmingModel.ptx');
  const input = bench.upload(Int32Array.from({ length: 1000 }, (_, i) => i));
  const total = bench.upload(Int32Array.of(0));
  const launch = bench.launch('plusReduce', [4, 1, 1], [256, 1, 1], [input, 1000, total]);
  return { launch, read: () => bench.ints(total, 1) };
}

describe('the kernels of the CUDA programming model', () => {
  it('saxpy writes y[i] = 2i + 1 for i < 1000 and nothing behind it', () => {
    const { launch, read } = saxpyCase();
    let divergences = 0;
    const counters = run(launch, { observer: { onDivergence: () => divergences++ } });
    expect(read()).toEqual(Array.from({ length: 1024 }, (_, i) => (i < 1000 ? 2 * i + 1 : 1)));
    expect(counters).toMatchObject({ warpInstructions: 640, threadInstructions: 20_264, blocks: 4 });
    expect(counters.globalLoadBytes).toBe(8000);
    expect(counters.globalStoreBytes).toBe(4000);
    expect(Object.values(counters.byClass).reduce((sum, count) => sum + count)).toBe(640);
    expect(divergences).toBe(1);
  });

  it.each(['csrmul', 'csrmulCached'])('%s multiplies the sparse matrix', (kernel) => {
    const { launch, read } = csrCase(kernel);
    run(launch);
    expect(read()).toEqual([6, 0, 20, 5]);
  });

  it('plusReduce adds up, with 9 barriers a thread and 6 divergent branches a full block, all in warp 0', () => {
    const { launch, read } = reduceCase();
    const barriers = new Map<string, number>();
    const divergences: string[] = [];
    let block = 0;
    run(launch, {
      observer: {
        onBlock: (index) => (block = index),
        onStep: (warp: Warp, pc, lanes) => {
          if (launch.kernel.instructions[pc]?.opcode !== 'bar') return;
          for (let lane = 0; lane < 32; lane++) {
            if (((lanes >>> lane) & 1) === 0) continue;
            const thread = `${block}:${warp.index * 32 + lane}`;
            barriers.set(thread, (barriers.get(thread) ?? 0) + 1);
          }
        },
        onDivergence: (warp) => divergences.push(`${block}:${warp.index}`),
      },
    });
    expect(read()).toEqual([499_500]);
    expect(barriers.size).toBe(1024);
    expect(new Set(barriers.values())).toEqual(new Set([9]));
    expect(divergences.filter((each) => each.startsWith('0:'))).toEqual(Array<string>(6).fill('0:0'));
  });

  it('runs a grid of blocks of two dimensions and a dependent grid after it', () => {
    const bench = new FixtureBench('programmingModel.ptx');
    const middle = bench.upload(new Int32Array(90));
    const out = bench.upload(new Int32Array(24));
    run(bench.launch('kernelF', [3, 2, 1], [5, 3, 1], [middle]));
    run(bench.launch('kernelG', [4, 1, 1], [6, 1, 1], [middle, out]));
    expect(bench.ints(middle, 90)).toEqual(Array.from({ length: 90 }, (_, i) => i));
    expect(bench.ints(out, 24)).toEqual(Array.from({ length: 24 }, (_, i) => i * 3 + 1));
  });
});

describe('independence of blocks and of the order of warps', () => {
  const cases: [string, () => { launch: ExecutorLaunch; read: () => number[] }][] = [
    ['saxpy', saxpyCase],
    ['csrmul', () => csrCase('csrmul')],
    ['plusReduce', reduceCase],
  ];

  it.each(cases)('%s gives the same in any order of blocks', (_, make) => {
    const plain = make();
    run(plain.launch);
    const expected = plain.read();
    let state = 12_345;
    for (let round = 0; round < 20; round++) {
      const { launch, read } = make();
      const order = Array.from({ length: blocksOf(launch) }, (_, block) => block);
      for (let i = order.length - 1; i > 0; i--) {
        state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
        const j = (state >>> 8) % (i + 1);
        [order[i], order[j]] = [order[j] ?? 0, order[i] ?? 0];
      }
      const result = new ReferenceInterpreter().runBlocks(launch, order, fuel);
      expect(result.status).toBe('done');
      expect(read(), `blocks in order ${order.join(' ')}`).toEqual(expected);
    }
  });

  it.each(cases)('%s gives the same with warps reversed or taking turns', (_, make) => {
    const results = [{}, { reversedWarps: true }, { turn: 1 }, { turn: 3, reversedWarps: true }].map(
      (options) => {
        const { launch, read } = make();
        const counters = run(launch, options);
        return { read: read(), counters };
      },
    );
    for (const result of results) expect(result).toEqual(results[0]);
  });
});

/**
 * The mapping of the article's section on CPUs: threads of a block one after another between barriers. Barriers are the
 * only places where they depend on each other, so a policy of single lanes must give what warps give.
 */
describe('against one thread at a time', () => {
  it.each([
    ['saxpy', saxpyCase],
    ['csrmulCached', () => csrCase('csrmulCached')],
    ['plusReduce', reduceCase],
  ] as [string, () => { launch: ExecutorLaunch; read: () => number[] }][])('%s is the same', (_, make) => {
    const warps = make();
    run(warps.launch);
    const threads = make();
    const counters = run(threads.launch, {
      turn: Infinity,
      policy: () => ({
        start: () => undefined,
        next: (warp) => {
          if (warp.ready === 0) return undefined;
          const lane = 31 - Math.clz32(warp.ready & -warp.ready);
          return { warp, lanes: 1 << lane, pc: warp.pcs[lane] ?? 0 };
        },
        stepped: () => undefined,
      }),
    });
    expect(threads.read()).toEqual(warps.read());
    expect(counters.warpInstructions).toBe(counters.threadInstructions);
  });
});

describe('dimensions', () => {
  it('numbers threads x fastest', () => {
    const bench = new FixtureBench('programmingModel.ptx');
    const out = bench.upload(new Int32Array(90));
    const shape: Dim3 = [5, 3, 1];
    run(bench.launch('kernelF', [3, 2, 1], shape, [out]));
    expect(bench.ints(out, 20).slice(14, 17)).toEqual([14, 15, 16]);
  });
});
