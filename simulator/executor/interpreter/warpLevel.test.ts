import { describe, expect, it } from 'vitest';
import { FixtureBench } from './tests/fixtureBench.js';
import { ReferenceInterpreter } from './index.js';

const fuel = 1_000_000;

function run(bench: FixtureBench, kernel: string, threads: number, args: readonly number[], blocks = 1) {
  const launch = bench.launch(kernel, [blocks, 1, 1], [threads, 1, 1], args);
  return new ReferenceInterpreter().run(launch, { lo: 0, hi: blocks }, 'fast', fuel);
}

function output(kernel: string, input: readonly number[], perThread = 1, threads = 32): number[] {
  const bench = new FixtureBench('warp.ptx');
  const out = bench.upload(new Int32Array(threads * perThread));
  const result = run(bench, kernel, threads, [bench.upload(Int32Array.from(input)), out]);
  expect(result.status === 'fault' ? result.fault.message : result.status).toBe('done');
  return bench.ints(out, threads * perThread);
}

const lanes = Array.from({ length: 32 }, (_, lane) => lane);

describe('warp-level operations', () => {
  it('adds up a warp by butterflies', () => {
    expect(output('warpSum', lanes)).toEqual(Array<number>(32).fill(496));
  });

  it('keeps shuffles in their segments', () => {
    const got = output('segmented', lanes, 4);
    const expected = lanes.flatMap((lane) => [
      lane % 8 >= 3 ? lane - 3 : lane,
      (lane % 16) + 5 < 16 ? lane + 5 : lane,
      3,
      lane ^ (lane & 3),
    ]);
    // The last column's lane differs a lane, so it is checked by definition: lane L reads lane L ^ (L & 3) of its 4.
    expect(got).toEqual(expected);
  });

  it('votes, matches and reduces', () => {
    const input = lanes.map((lane) => lane % 8);
    const got = output('votes', input, 6);
    for (const lane of lanes) {
      const same = lanes.reduce((mask, other) => (other % 8 === lane % 8 ? mask | (1 << other) : mask), 0);
      expect(got.slice(lane * 6, lane * 6 + 6)).toEqual([0xf0f0f0f0 | 0, 3, same, 0, 112, 700]);
    }
    const alike = output('votes', Array<number>(32).fill(7), 6);
    expect(alike.slice(0, 6)).toEqual([-1, 3, -1, 0, 224, 707]);
  });

  it('lets each half of a warp shuffle within its branch', () => {
    const bench = new FixtureBench('warp.ptx');
    const out = bench.upload(new Int32Array(32));
    expect(run(bench, 'halves', 32, [out]).status).toBe('done');
    expect(bench.ints(out, 32)).toEqual(
      lanes.map((lane) => (lane < 16 ? lane ** 2 + (lane ^ 1) ** 2 : lane ** 2 - (lane ^ 2) ** 2)),
    );
  });

  it('lets paths of one warp wait for each other', () => {
    const bench = new FixtureBench('warp.ptx');
    const out = bench.upload(new Int32Array(64));
    const result = run(bench, 'crossPath', 32, [out]);
    expect(result.status === 'fault' ? result.fault.message : result.status).toBe('done');
    const first = lanes.map((lane) => (lane % 2 === 1 ? lane : 1000 + lane));
    const second = lanes.map((lane) => (lane % 2 === 1 ? 1000 + lane - 1 + 1 : lane + 1 + 2));
    expect(bench.ints(out, 64)).toEqual([...first, ...second]);
  });
});

describe('divergence', () => {
  it('runs loops whose length differs by thread', () => {
    const bench = new FixtureBench('warp.ptx');
    const n = 100;
    const input = Array.from({ length: n }, (_, i) => i + 1);
    const out = bench.upload(new Int32Array(n));
    const result = run(bench, 'collatz', 64, [bench.upload(Int32Array.from(input)), out, n], 2);
    const steps = (value: number): number => {
      let count = 0;
      for (; value !== 1; count++) value = value % 2 === 1 ? 3 * value + 1 : value / 2;
      return count;
    };
    expect(bench.ints(out, n)).toEqual(input.map(steps));
    if (result.status !== 'done') throw new Error('not done');
    // SIMT issue: a warp takes as long as its slowest lane, and fewer lanes than 32 on the average.
    expect(result.counters.threadInstructions / result.counters.warpInstructions).toBeLessThan(32);
    expect(result.counters.threadInstructions / result.counters.warpInstructions).toBeGreaterThan(4);
  });
});

describe('memory spaces', () => {
  it('indexes local arrays', () => {
    const order = [3, 1, 4, 0, 5, 2, 7, 6];
    const got = output('localArray', order);
    expect(got).toEqual(lanes.map((lane) => order.indexOf(order[lane & 7] ?? 0) * (lane + 1)));
  });

  it('reads constants and updates module variables', () => {
    const bench = new FixtureBench('warp.ptx');
    const out = bench.upload(new Int32Array(10));
    expect(run(bench, 'variables', 10, [out]).status).toBe('done');
    expect(bench.ints(out, 10)).toEqual([43, 1, 4, 1, 5, 3, 1, 4, 1, 5]);
    expect(run(bench, 'variables', 10, [out]).status).toBe('done');
    expect(bench.ints(out, 1)).toEqual([45]);
  });

  it.each([0, 1, 2])('follows a generic pointer to shared, local and global memory (%i)', (which) => {
    const bench = new FixtureBench('warp.ptx');
    const out = bench.upload(new Int32Array(32));
    const result = run(bench, 'generic', 32, [out, which]);
    expect(result.status === 'fault' ? result.fault.message : result.status).toBe('done');
    expect(bench.ints(out, 32)).toEqual(lanes.map((lane) => lane + 100));
  });
});

describe('faults', () => {
  function fault(kernel: string, args: (bench: FixtureBench) => number[], threads = 32) {
    const bench = new FixtureBench('warp.ptx');
    const result = run(bench, kernel, threads, args(bench));
    if (result.status !== 'fault') throw new Error(`${kernel} did not fault`);
    return result.fault;
  }

  it('tells a barrier that part of a warp never reaches', () => {
    const found = fault('divergentBarrier', (bench) => [bench.upload(new Int32Array(128))], 64);
    expect(found).toMatchObject({ code: 'divergentBarrier', thread: [0, 0, 0] });
  });

  it('does not count threads that returned as missing from a barrier', () => {
    const bench = new FixtureBench('warp.ptx');
    const out = bench.upload(new Int32Array(96));
    const result = run(bench, 'earlyReturn', 96, [out, 40]);
    expect(result.status === 'fault' ? result.fault.message : result.status).toBe('done');
    expect(bench.ints(out, 96)).toEqual([...Array<number>(40).fill(780), ...Array<number>(56).fill(0)]);
  });

  it('stops an endless kernel by its fuel', () => {
    const found = fault('endless', (bench) => [bench.upload(Int32Array.of(0))]);
    expect(found).toMatchObject({ code: 'fuelExhausted', kernel: 'endless', ptxFile: 'warp.ptx' });
    expect(found.message).toContain('1000000');
  });

  it('names the thread and line of a trap', () => {
    const found = fault('stops', (bench) => [bench.upload(new Int32Array(32))]);
    expect(found).toMatchObject({ code: 'trap', thread: [5, 0, 0], block: [0, 0, 0] });
    expect(found.ptxLine).toBeGreaterThan(500);
  });

  it('names the address outside every segment', () => {
    const bench = new FixtureBench('warp.ptx');
    const input = bench.upload(new Int32Array(16));
    const result = run(bench, 'warpSum', 32, [input, bench.upload(new Int32Array(32))]);
    if (result.status !== 'fault') throw new Error('no fault');
    expect(result.fault).toMatchObject({ code: 'illegalAddress', thread: [16, 0, 0], address: input + 64 });
  });

  it('tells a misaligned address from one that is not mapped', () => {
    const bench = new FixtureBench('warp.ptx');
    const input = bench.upload(new Int32Array(64));
    const result = run(bench, 'warpSum', 32, [input + 2, input]);
    if (result.status !== 'fault') throw new Error('no fault');
    expect(result.fault).toMatchObject({ code: 'misalignedAddress', address: input + 2, thread: [0, 0, 0] });
  });
});
