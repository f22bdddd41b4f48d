import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseModule } from '../../../ptx/index.js';
import {
  ACCESS,
  findClobber,
  findUncovered,
  judgeInstance,
  OracleBench,
  runScheduled,
  SCHEDULES,
  type InstanceArgument,
  type Judgement,
  type JudgementOptions,
  type LaunchInstance,
} from './index.js';
import { memoryOfBlocks, passesOn } from './blockStores.js';

const ir = parseModule(
  readFileSync(new URL('fixtures/oracleKernels.ptx', import.meta.url), 'utf8'),
  'oracleKernels.ptx',
);
const bench = new OracleBench();

const int = (value: number): InstanceArgument => ({ bytes: new Uint8Array(new Int32Array([value]).buffer) });
const at = (allocation: number, offset = 0): InstanceArgument => ({
  bytes: new Uint8Array(8),
  pointers: [{ at: 0, allocation, offset }],
});
/** Words 1, -1, 2, -2 …: none is zero. */
const words = (count: number): Uint8Array =>
  new Uint8Array(
    Int32Array.from({ length: count }, (_, i) => (i % 2 === 0 ? 1 : -1) * (1 + (i >> 1))).buffer,
  );
const floats = (count: number): Uint8Array =>
  new Uint8Array(Float32Array.from({ length: count }, (_, i) => (i % 3) - 0.5).buffer);

function instance(
  entry: string,
  args: readonly InstanceArgument[],
  allocations: readonly Uint8Array[],
  [grid, block]: readonly [number, number],
): LaunchInstance {
  const shape = { grid: [grid, 1, 1], block: [block, 1, 1], dynamicSharedBytes: 0 } as const;
  return { ir, entry, shape, allocations: allocations.map((bytes) => ({ bytes })), args };
}

function judged(what: LaunchInstance, options?: JudgementOptions): Extract<Judgement, { kind: 'judged' }> {
  const judgement = judgeInstance(bench, what, options);
  if (judgement.kind === 'fault') throw new Error(judgement.fault.message);
  return judgement;
}

const added = (args: readonly InstanceArgument[], n = 100): LaunchInstance =>
  instance('addVectors', [...args, int(n)], [floats(300), floats(300), floats(300)], [2, 64]);

describe('the oracles of idempotency', () => {
  it('let a kernel pass whose buffers are apart, in all its reruns', () => {
    const { idempotent, kill } = judged(added([at(0), at(1), at(2)]));
    expect(idempotent).toBe(true);
    expect(kill).toMatchObject({ racy: false, kills: 3 * 32 });
    expect(kill?.reruns).toBeGreaterThan(90);
  });

  it('find buffers that overlap by one byte or more, and none that only touch', () => {
    const plain = [at(0), at(1), at(2)];
    const idempotent = (args: readonly InstanceArgument[], n = 100): boolean =>
      judged(added(args, n)).idempotent;
    expect(idempotent([at(1), ...plain.slice(1)])).toBe(false);
    expect(idempotent([at(1, 400), ...plain.slice(1)])).toBe(true);
    expect(idempotent([at(1, 396), ...plain.slice(1)])).toBe(false);
    expect(idempotent([at(1, 396), ...plain.slice(1)], 99)).toBe(true);
    expect(idempotent([at(1), ...plain.slice(1)], 0)).toBe(true);
    expect(idempotent([at(0), at(2), at(2)])).toBe(true);
  });

  it('tell a write after a read where a kill changes the result, and where it does not', () => {
    const increment = judged(instance('increment', [at(0), int(60)], [words(64)], [2, 32]), {
      killClobbered: true,
    });
    expect(increment).toMatchObject({ idempotent: false, clobber: { kind: 'clobber', schedule: 'forward' } });
    expect(increment.kill?.finding).toMatchObject({ schedule: 'forward' });
    const clamp = judged(instance('clampInPlace', [at(0), int(60)], [floats(64)], [2, 32]), {
      killClobbered: true,
    });
    expect(clamp.idempotent).toBe(false);
    expect(clamp.clobber).toBeDefined();
    expect(clamp.kill?.finding).toBeUndefined();
  });

  it('see what one order of blocks hides and another shows', () => {
    const shift = instance('shiftLeft', [at(0), int(128)], [words(128)], [4, 32]);
    const found = bench.with(shift, (placed) =>
      SCHEDULES.slice(0, 2).map((schedule) => findClobber(runScheduled(placed, schedule, 1))?.kind),
    );
    // Backward, block b writes before block b - 1 reads.
    expect(found).toEqual(['clobber', undefined]);
    expect(judged(shift).idempotent).toBe(false);
    expect(judged(shift, { schedules: ['reverse'] }).clobber).toBeUndefined();
    // Killed between two blocks the rerun of a backward run reads what must not be there yet.
    expect(judged(shift, { schedules: ['reverse'] }).kill?.finding).toBeDefined();
  });

  it('take a write before the read of the same bytes for what it is', () => {
    const kernel = instance('writeThenRead', [at(0), at(1), int(90)], [words(96), words(96)], [3, 32]);
    expect(judged(kernel)).toMatchObject({ idempotent: true });
  });

  it('find by kills what no read shows: who comes first says what is written', () => {
    const kernel = instance('firstComes', [at(0), at(1)], [new Uint8Array(1024), words(1)], [2, 128]);
    const judgement = judged(kernel);
    expect(judgement.clobber).toBeUndefined();
    expect(judgement.kill).toMatchObject({ racy: true, finding: { offset: expect.any(Number) as number } });
    expect(judgement.idempotent).toBe(false);
  });

  it('let every outcome of a race of writers pass', () => {
    const kernel = instance('lastWriterStays', [at(0), at(1)], [words(1), words(128)], [4, 32]);
    const judgement = judged(kernel);
    expect(judgement).toMatchObject({ idempotent: true, kill: { racy: true } });
  });

  it('let an outcome pass that only other orders of blocks leave', () => {
    // The first lane of a warp has the last word: both the first block's and the last one's is 7.
    const values = Int32Array.from({ length: 128 }, (_, i) => (i === 32 || i === 64 ? 9 : 7));
    const kernel = instance(
      'lastWriterStays',
      [at(0), at(1)],
      [words(1), new Uint8Array(values.buffer)],
      [4, 32],
    );
    const judgement = judged(kernel, { schedules: ['forward', 'reverse'] });
    expect(judgement).toMatchObject({ idempotent: true, kill: { racy: true } });
  });

  it('find what a kill leaves beside a race of writers', () => {
    // Every block adds to a place of its own, and all write one place.
    const kernel = instance('countAndRace', [at(0), at(1)], [words(1), words(4)], [4, 32]);
    for (const schedule of SCHEDULES) {
      const judgement = judged(kernel, { schedules: [schedule], killClobbered: true });
      expect(judgement.kill).toMatchObject({ finding: { schedule } });
    }
  });

  it('count an atomic as a read and a write, and printing as an effect that a rerun repeats', () => {
    const tally = instance('tally', [at(0), at(1), int(32)], [words(8), words(32)], [1, 32]);
    expect(judged(tally).clobber).toMatchObject({ kind: 'clobber' });
    const report = instance('report', [at(0)], [words(32)], [1, 32]);
    expect(judged(report).clobber).toEqual({ kind: 'sideEffect', schedule: 'forward' });
  });

  it('know the variables of a module as memory', () => {
    const judgement = judged(instance('addToModule', [at(0)], [words(64)], [1, 64]));
    expect(judgement.clobber).toMatchObject({ kind: 'clobber' });
  });

  it('say when an instance faults, and refuse what they cannot run', () => {
    const fault = judgeInstance(bench, added([at(0), at(1), at(2, 1000)], 100));
    expect(fault).toMatchObject({ kind: 'fault', fault: { code: 'illegalAddress' } });
    const large = instance('increment', [at(0), int(1)], [new Uint8Array(70_000)], [1, 32]);
    expect(() => judgeInstance(bench, large)).toThrow(/bytes: oracles take at most 65536/);
    expect(() => judgeInstance(bench, instance('absent', [], [], [1, 1]))).toThrow(/no entry absent/);
    expect(() => judgeInstance(bench, instance('increment', [at(0)], [words(1)], [1, 1]))).toThrow(/takes 2/);
    expect(() => judgeInstance(bench, instance('increment', [at(3), int(1)], [words(1)], [1, 1]))).toThrow(
      /names allocation 3/,
    );
  });
});

describe('what the oracles see', () => {
  const kernel = instance(
    'everyAccess',
    [at(0), at(1), at(2), int(1)],
    [new Uint8Array(512), floats(64), words(1)],
    [1, 32],
  );

  it('is every access to global memory, of every kind, the same under every schedule', () => {
    bench.with(kernel, (placed) => {
      const [out = 0, input = 0, counter = 0] = placed.addresses;
      const seen = SCHEDULES.map((schedule) => {
        const { trace, prints } = runScheduled(placed, schedule, 3);
        expect(prints).toBe(false);
        const entries = Array.from({ length: trace.count }, (_, index) => {
          const name = Object.keys(ACCESS)[trace.kind[index] ?? 0] ?? '';
          return `${name} ${trace.address[index]} ${trace.bytes[index]}`;
        });
        return entries.sort();
      });
      const lanes = Array.from({ length: 32 }, (_, lane) => lane);
      const wanted = [
        ...lanes.map((lane) => `load ${input + 4 * lane} 4`),
        ...lanes.slice(0, 4).map((lane) => `load ${input + 128 + 16 * lane} 16`),
        ...lanes.map(() => `load ${input + 192} 16`),
        ...lanes.map(() => `load ${input + 240} 4`),
        ...lanes.map((lane) => `store ${out + 8 * lane} 8`),
        ...lanes.map((lane) => `store ${out + 256 + lane} 1`),
        ...lanes.map(() => `atomic ${counter} 4`),
      ].sort();
      for (const entries of seen) expect(entries).toEqual(wanted);
    });
  });

  it('lies inside what is predicted, or is told with its line', () => {
    bench.with(kernel, (placed) => {
      const { instructions } = placed.launch.kernel;
      const run = runScheduled(placed, 'forward', 1);
      // The tightest prediction: what each line of the text has touched.
      const touched = new Map<string, { lo: number; hi: number }>();
      for (let index = 0; index < run.trace.count; index++) {
        const line = instructions[run.trace.instruction[index] ?? 0]?.line ?? 0;
        const lo = run.trace.address[index] ?? 0;
        const hi = lo + (run.trace.bytes[index] ?? 0) - 1;
        const sides = [['R'], ['W'], ['R', 'W']][run.trace.kind[index] ?? 0] ?? [];
        for (const rw of sides) {
          const known = touched.get(`${rw}${line}`) ?? { lo, hi };
          touched.set(`${rw}${line}`, { lo: Math.min(lo, known.lo), hi: Math.max(hi, known.hi) });
        }
      }
      const source = (
        change: (key: string, interval: { lo: number; hi: number }) => { lo: number; hi: number },
      ) => ({
        predictedIntervals: (line: number, rw: 'R' | 'W') => {
          const known = touched.get(`${rw}${line}`);
          return known === undefined ? [] : [change(`${rw}${line}`, known)];
        },
      });
      const { kernel: fn } = placed.launch;
      expect(
        findUncovered(
          run,
          fn,
          source((_, interval) => interval),
        ),
      ).toBeUndefined();
      expect(touched.size).toBe(8);
      for (const key of touched.keys()) {
        const short = source((each, { lo, hi }) => ({ lo, hi: each === key ? hi - 1 : hi }));
        expect(findUncovered(run, fn, short)).toMatchObject({ rw: key[0], line: Number(key.slice(1)) });
        const late = source((each, { lo, hi }) => ({ lo: each === key ? lo + 1 : lo, hi }));
        expect(findUncovered(run, fn, late)).toMatchObject({ rw: key[0], line: Number(key.slice(1)) });
      }
      const open = { predictedIntervals: () => 'anything' as const };
      expect(findUncovered(run, fn, open)).toBeUndefined();
    });
  });

  it('is known of each block: what some of them alone would leave', () => {
    bench.with(added([at(0), at(1), at(2)], 128), (placed) => {
      const base = placed.arena.offsetOf(placed.addresses[0] ?? 0, 4);
      for (const schedule of SCHEDULES) {
        const run = runScheduled(placed, schedule, 3);
        expect(memoryOfBlocks(run, new Set(), placed.initial)).toEqual(placed.initial);
        expect(memoryOfBlocks(run, new Set([0, 1]), placed.initial)).toEqual(run.output);
        for (const block of [0, 1]) {
          const wanted = placed.initial.slice();
          const [from, to] = [base + 256 * block, base + 256 * (block + 1)];
          wanted.set(run.output.subarray(from, to), from);
          expect(memoryOfBlocks(run, new Set([block]), placed.initial)).toEqual(wanted);
        }
        expect(passesOn(run)).toBe(false);
      }
    });
    bench.with(instance('shiftLeft', [at(0), int(128)], [words(128)], [4, 32]), (placed) => {
      expect(SCHEDULES.slice(0, 2).map((schedule) => passesOn(runScheduled(placed, schedule, 1)))).toEqual([
        false,
        true,
      ]);
    });
  });

  it('does not depend on what was judged before', () => {
    const first = judged(added([at(0), at(1), at(2)]));
    judged(kernel);
    expect(judged(added([at(0), at(1), at(2)]))).toEqual(first);
  });
});
