import { kernelFixture } from '../kernelFixture.js';
import { uniform } from '../seededInputs.js';

const n = 610;
const block = 160;
const grid = Math.ceil(n / block);
const { fround } = Math;

/** Lane 0 of a warp that folds its upper half onto the lower until one value is left. */
function fold(values: number[]): number {
  if (values.length === 1) return values[0];
  const half = values.length / 2;
  return fold(values.slice(0, half).map((value, i) => fround(value + values[i + half])));
}

export const warpSum = kernelFixture({
  ptx: new URL('./warpSum.ptx', import.meta.url),
  buffers: () => ({
    x: uniform(n, 12, -10, 10),
    sums: new Float32Array(grid),
    largest: new Float32Array(grid),
  }),
  launches: [
    {
      kernel: '_Z7warpSumPKfPfS1_i',
      grid,
      block,
      args: [{ buffer: 'x' }, { buffer: 'sums' }, { buffer: 'largest' }, { i32: n }],
    },
  ],
  reference: ({ x, sums, largest }) => {
    for (let b = 0; b < grid; b++) {
      const values = Array.from({ length: block }, (_, t) => (b * block + t < n ? x[b * block + t] : 0));
      const warps = Array.from({ length: 32 }, (_, warp) =>
        warp < block / 32 ? fold(values.slice(32 * warp, 32 * warp + 32)) : 0,
      );
      sums[b] = fold(warps);
      largest[b] = Math.max(...x.slice(b * block, (b + 1) * block));
    }
  },
  outputs: { sums: 'exact', largest: 'exact' },
});
