import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { emptyCounters } from '../../../simulator/executor/index.js';
import { holds } from '../check.js';
import { VARIANTS, type AblationRow } from './ablation.js';
import { ablationFigure, ablationTable } from './ablationReport.js';
import { BENCH_KERNELS } from './benchKernels.js';
import { commandLine } from './commandLine.js';
import { toolchain } from './compiler.js';
import type { KernelRow } from './kernelRow.js';
import { compareOutputs } from './outputComparison.js';
import { PtxRun } from './ptxRun.js';
import { steadyFrom } from './startTimes.js';
import { distribution } from './statistics.js';
import { warmUp } from './warmUp.js';
import { kernelCheck, kernelLine } from './table.js';

const bytes = (values: readonly number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer);

describe('statistics', () => {
  it('says how far the quartiles lie apart', () => {
    expect(distribution([8, 12, 10, 11, 9])).toEqual({ median: 10, least: 8, spread: 0.1, count: 5 });
  });
});

describe('outputs', () => {
  it('are equal to the bit, or not', () => {
    expect(compareOutputs('f32', bytes([1, NaN]), bytes([1, NaN]), 'exact')).toMatchObject({ holds: true });
    const zeros = compareOutputs('f32', bytes([0, 1]), bytes([-0, 1]), 'exact');
    expect(zeros).toEqual({ count: 2, differing: 1, beyond: 1, holds: false });
  });

  it('may differ by a bound', () => {
    const rule = { relative: 0.01, absolute: 0.1, why: 'rounding' };
    expect(compareOutputs('f32', bytes([101, 0.09]), bytes([100, 0]), rule)).toMatchObject({
      differing: 2,
      beyond: 0,
      holds: true,
    });
    expect(compareOutputs('f32', bytes([101.2]), bytes([100]), rule).holds).toBe(false);
    expect(compareOutputs('f32', bytes([NaN]), bytes([100]), rule).holds).toBe(false);
  });

  it('may differ more in a share of the elements', () => {
    const rule = { relative: 0, absolute: 0, mayDiffer: 0.25, why: 'edges' };
    expect(compareOutputs('f32', bytes([1, 2, 3, 4]), bytes([1, 2, 3, 9]), rule).holds).toBe(true);
    expect(compareOutputs('f32', bytes([1, 2, 3, 4]), bytes([1, 2, 8, 9]), rule).holds).toBe(false);
  });

  it('of different lengths are no pair', () => {
    expect(() => compareOutputs('i32', bytes([1]), bytes([1, 2]), 'exact')).toThrow('1 elements against 2');
  });
});

describe('steady speed', () => {
  const runs = (times: readonly number[]) => times.map((ms, index) => ({ fromMs: 100 * index, ms }));

  it('begins with the first runs in a row that are near it', () => {
    expect(steadyFrom(runs([50, 40, 30, 10, 10, 10, 10, 10, 10, 10, 10, 10]))).toBe(100);
    expect(steadyFrom(runs([10, 10, 90, 10, 10, 10]))).toBe(0);
  });

  it('is unknown after too few runs', () => {
    expect(steadyFrom(runs([1, 1, 1]))).toBeNaN();
  });
});

describe('warming up', () => {
  const timings = (times: readonly number[]) => {
    let at = 0;
    return {
      run: () => {
        const ms = times[Math.min(at++, times.length - 1)] ?? 0;
        return { counters: emptyCounters(), timing: { wallMs: ms, cpuMs: ms } };
      },
    };
  };

  it('ends when four runs in a row have brought nothing', () => {
    expect(warmUp(timings([400, 300, 200, 200, 199, 201, 200]))).toBe(7);
  });

  it('goes on for a while with short runs, and not for ever', () => {
    expect(warmUp(timings([10]))).toBe(60);
    expect(warmUp(timings([3000, 2000, 1000]))).toBe(2);
  });
});

describe('the command line', () => {
  it('takes parts, repeats and switches', () => {
    expect(commandLine(['saxpy', 'launch', '--repeats', '3', '--check'])).toEqual({
      parts: ['saxpy', 'launch'],
      repeats: 3,
      flags: '-O2 -march=native',
      json: false,
      check: true,
      ablation: undefined,
    });
    expect(commandLine(['--ablation']).ablation).toBe('docs/experiments/ptx');
  });

  it('says what is wrong', () => {
    expect(() => commandLine(['sgemm'])).toThrow("there is no part 'sgemm', only sgemm_naive, conv3x3");
    expect(() => commandLine(['--repeats', '0'])).toThrow("--repeats must be a whole number from 1, not '0'");
  });

  it('takes flags of the compiler as the next argument', () => {
    expect(commandLine(['--cflags', '-O3 -march=native -ffast-math', 'saxpy'])).toMatchObject({
      flags: '-O3 -march=native -ffast-math',
      parts: ['saxpy'],
    });
    expect(() => commandLine(['--cflags'])).toThrow('argument missing');
  });

  it('leaves optimisations out of kernels alone', () => {
    expect(commandLine(['--ablation', 'saxpy']).parts).toEqual(['saxpy']);
    expect(() => commandLine(['--ablation', 'start'])).toThrow(
      "'start' is no kernel of the bench, only sgemm",
    );
  });

  it('names what to install when there is no compiler', () => {
    expect(() => toolchain('-O2', '/no/such/gcc')).toThrow('apt-get install gcc');
  });
});

describe('a row of the table', () => {
  const row: KernelRow = {
    name: 'saxpy',
    floor: 0.4,
    aim: 0.7,
    firstMs: 60,
    oursMs: { median: 20, least: 19, spread: 0.02, count: 9 },
    twinMs: { median: 10, least: 9.5, spread: 0.01, count: 9 },
    ratio: 0.5,
    leastRatio: 0.5,
    wallRatio: 0.5,
    threadInstructions: 1e9,
    threadInstructionsPerSecond: 5e10,
    outputs: { count: 100, differing: 3, beyond: 0, holds: true },
  };

  it('holds its floor with right outputs only', () => {
    expect(holds(kernelCheck(row))).toBe(true);
    expect(holds(kernelCheck({ ...row, ratio: 0.39 }))).toBe(false);
    const wrong = { ...row, outputs: { ...row.outputs, beyond: 2, holds: false } };
    expect(holds(kernelCheck(wrong))).toBe(false);
    expect(kernelLine(wrong)).toContain('2 of 100 WRONG');
    expect(kernelLine(row)).toMatch(/20\.0 ±2 % +10\.0 ±1 % +0\.50 +0\.4 +0\.7.* 50000 +within bound/);
  });
});

describe('the kernels', () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url));

  it.each(BENCH_KERNELS)('$name has a launch, a twin, and a floor below what is wanted', (kernel) => {
    expect(existsSync(`${root}${kernel.launch}`)).toBe(true);
    expect(existsSync(`${root}loadtest/bench/ptx/twins/${kernel.twin}`)).toBe(true);
    expect(kernel.floor).toBeLessThan(kernel.aim);
  });

  it('run from their launch specs', () => {
    const run = new PtxRun(`${root}simulator/gpu/reference/launches/sgemm_naive__M-N-K-64.json`);
    expect(run.run().counters.blocks).toBeGreaterThan(0);
    const found = new Float32Array(Uint8Array.from(run.bytes(run.output)).buffer);
    const expected = run.spec.expect?.samples?.['0'];
    expect(Number(found[0].toPrecision(9))).toBe(expected);
  });
});

describe('the ablation', () => {
  it('leaves each optimisation of one thread out alone, and all of them', () => {
    const names = VARIANTS.map(({ name }) => name);
    expect(names).toContain('vector');
    const all = VARIANTS.find(({ name }) => name === 'all of these');
    expect(all?.without.has('threads')).toBe(false);
    expect(all?.without.size).toBe(names.length - 2);
  });

  it('is a table and a picture', () => {
    const cells = VARIANTS.map(({ name }, index) => ({
      without: name,
      factor: 1 + index,
      ms: 10,
      isSame: index > 0,
    }));
    const rows: AblationRow[] = [{ kernel: 'saxpy', fullMs: 10, cells }];
    const [head, , first] = ablationTable(rows).split('\n');
    expect(head).toMatch(/^\| kernel \| ms \| vector \|.*\| all of these \| threads \|$/);
    expect(first).toMatch(/^\| saxpy \| 10\.0 \| 1\.00 \(DIFFERS\) \| 2\.00 \|/);
    const svg = ablationFigure(rows, 'of one machine');
    expect(svg.match(/<rect /g)).toHaveLength(1 + VARIANTS.length);
  });
});
