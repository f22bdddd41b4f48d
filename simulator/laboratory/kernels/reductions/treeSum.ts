import { kernelFixture } from '../kernelFixture.js';
import { uniform } from '../seededInputs.js';

const n = 1500;
const block = 128;
const grid = Math.ceil(n / (2 * block));
const { fround } = Math;

export const treeSum = kernelFixture({
  ptx: new URL('./treeSum.ptx', import.meta.url),
  buffers: () => ({ x: uniform(n, 11, -100, 100), sums: new Float32Array(grid) }),
  launches: [
    {
      kernel: 'treeSum',
      grid,
      block,
      dynamicSharedBytes: 4 * block,
      args: [{ buffer: 'x' }, { buffer: 'sums' }, { i32: n }],
    },
  ],
  reference: ({ x, sums }) => {
    const at = (i: number): number => (i < n ? x[i] : 0);
    // The tree pairs t with t + half, so that leaf t of half the tree is itself such a pair.
    const sum = (first: number, t: number, width: number): number =>
      width === block
        ? fround(at(first + t) + at(first + t + block))
        : fround(sum(first, t, width * 2) + sum(first, t + width, width * 2));
    sums.forEach((_, b) => (sums[b] = sum(b * 2 * block, 0, 1)));
  },
  outputs: { sums: 'exact' },
});
