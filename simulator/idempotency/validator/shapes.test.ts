import { describe, expect, it } from 'vitest';
import type { Dim3 } from '../../executor/index.js';
import { Kernels } from './tests/launches.js';

const kernels = new Kernels('shapes.ptx');
const A = 0x400000000000;
const MANY = 1_000_000;
const FAR = A + 2 ** 36;

describe('verdicts about what nvcc makes of usual kernels', () => {
  /** Kernel, arguments of apart, of adjacent and of overlapping buffers, grid, block. */
  const table: readonly [string, readonly number[], number, number | Dim3, number | Dim3][] = [
    // name, arguments behind the pointers, bytes that the kernel reads, grid, block
    ['reluLoop', [100], 4 * 256 * 100, 2, 128],
    ['gridStride', [MANY], 4 * MANY, 16, 128],
    ['stencil', [64, 64], 4 * 64 * 64, [4, 4, 1], [16, 16, 1]],
    ['transpose', [48, 32], 4 * 48 * 32, [3, 2, 1], [16, 16, 1]],
    ['modulo', [500], 4 * 10, 4, 128],
    ['masked', [500], 4 * 8, 4, 128],
    ['restricted', [500], 4 * 500, 4, 128],
  ];
  it.each(table)('%s: idempotent behind what it reads, not within it', (name, more, bytes, grid, block) => {
    const validator = kernels.validator(name);
    const judge = (out: number, from: number): boolean =>
      validator.judge(kernels.launch(name, [out, from, ...more], grid, block));
    expect(judge(FAR, A)).toBe(true);
    expect(judge(A + bytes, A)).toBe(true);
    expect(judge(A, A)).toBe(false);
    expect(judge(A + bytes / 2, A)).toBe(false);
  });

  it('tiledGemm: three buffers', () => {
    const validator = kernels.validator('tiledGemm');
    const [m, n, k] = [100, 70, 50];
    const judge = (c: number, a: number, b: number): boolean =>
      validator.judge(kernels.launch('tiledGemm', [c, a, b, m, n, k], [5, 7, 1], [16, 16, 1]));
    expect(judge(A, A + 4 * m * n, A + 4 * m * n + 4 * m * k)).toBe(true);
    expect(judge(A + 4 * m * k, A, A + 4 * m * k + 4 * m * n)).toBe(true);
    expect(judge(A, A + 4 * m * n - 4, FAR)).toBe(false);
    expect(judge(A, FAR, A + 4 * m * n - 4)).toBe(false);
  });

  it('byStruct: pointers inside a structure', () => {
    const validator = kernels.validator('byStruct');
    const judge = (out: number, from: number): boolean =>
      validator.judge(kernels.launch('byStruct', [[out, from, 500]], 4, 128));
    expect(judge(A + 2000, A)).toBe(true);
    expect(judge(A + 1996, A)).toBe(false);
  });

  it('takes the loop as one interval for each access, far beyond the limit of unrolling', () => {
    const validator = kernels.validator('reluLoop');
    const launch = kernels.launch('reluLoop', [FAR, A, MANY], 1, 64);
    expect(validator.judge(launch)).toBe(true);
    const { count, isWrite, lo, hi } = validator.intervals(launch);
    expect(count).toBeLessThanOrEqual(
      kernels.kernel('reluLoop').instructions.filter(({ opcode }) => /^(ld|st)$/.test(opcode)).length,
    );
    let [first, last] = [Infinity, -Infinity];
    for (let index = 0; index < count; index++) {
      if (isWrite[index] !== 0 || !((lo[index] ?? 0) <= (hi[index] ?? 0))) continue;
      first = Math.min(first, lo[index] ?? 0);
      last = Math.max(last, hi[index] ?? 0);
    }
    expect([first - A, last - A]).toEqual([0, 4 * 64 * MANY - 1]);
    const ranges = kernels.validator('reluLoop', { mode: 'ranges' });
    expect(ranges.judge(launch)).toBe(false);
    expect(ranges.judge(kernels.launch('reluLoop', [FAR, A, 30], 1, 64))).toBe(true);
  });
});
