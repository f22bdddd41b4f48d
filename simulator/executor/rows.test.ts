import { describe, expect, it } from 'vitest';
import { LaunchBench, storingKernel } from './tests/launchBench.js';

const bench = new LaunchBench({ alwaysTogether: true });

/** Runs a body of which thread i stores %r9 at i. */
function results(body: string, block: number, grid = 3): number[] {
  const out = bench.buffer(block * grid);
  const text = storingKernel(body);
  const run = bench.run(text, { values: [out, 0], grid: [grid, 1, 1], block: [block, 1, 1] }, 'fast');
  expect(run.status).toBe('done');
  return bench.words(out, block * grid);
}

describe('rows of threads', () => {
  const global =
    'mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\nmad.lo.u32 %r5, %r2, %r3, %r4;\n';

  // Blocks that rows begin with, and blocks that they do not.
  it.each([32, 48, 64, 100, 128, 200])('are found by shifts and masks in blocks of %d', (block) => {
    const indices = Array.from({ length: 3 * block }, (_, index) => index);
    expect(results(`${global}shr.u32 %r9, %r5, 5;`, block)).toEqual(indices.map((index) => index >> 5));
    expect(results(`${global}and.b32 %r9, %r5, 31;`, block)).toEqual(indices.map((index) => index & 31));
    expect(results(`${global}and.b32 %r9, %r4, 63;`, block)).toEqual(
      indices.map((index) => (index % block) & 63),
    );
    expect(
      results(`${global}shr.u32 %r6, %r5, 6;\nand.b32 %r7, %r4, 31;\nmad.lo.u32 %r9, %r6, 1000, %r7;`, block),
    ).toEqual(indices.map((index) => (index >> 6) * 1000 + ((index % block) & 31)));
  });
});
