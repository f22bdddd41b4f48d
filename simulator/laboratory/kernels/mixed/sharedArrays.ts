import { kernelFixture } from '../kernelFixture.js';
import { uniform } from '../seededInputs.js';

const [blocks, count, doubles] = [3, 50, 8];

export const sharedArrays = kernelFixture({
  ptx: new URL('./sharedArrays.ptx', import.meta.url),
  buffers: () => ({
    values: uniform(blocks * count, 191, -2, 3).map((value) => Math.round(value * 8) / 8),
    sums: new Float64Array(blocks * doubles),
    order: new Int32Array(blocks * count),
    flags: new Uint8Array(blocks * count),
  }),
  launches: [
    {
      kernel: 'sharedArrays',
      grid: blocks,
      block: 64,
      dynamicSharedBytes: 8 * doubles + 7 * count,
      args: [
        { buffer: 'values' },
        { buffer: 'sums' },
        { buffer: 'order' },
        { buffer: 'flags' },
        { i32: count },
        { i32: doubles },
      ],
    },
  ],
  reference: ({ values, sums, order, flags }) => {
    for (let b = 0; b < blocks; b++) {
      const mine = values.subarray(b * count, (b + 1) * count);
      const sorted = Array.from(mine.keys()).sort((i, j) => mine[i] - mine[j] || i - j);
      order.set(sorted, b * count);
      flags.set(
        sorted.map((i) => (mine[i] > 0 ? 1 : 0)),
        b * count,
      );
      const partial = Array.from({ length: doubles }, (_, t) => 0.5 * t);
      const fixed = new Array<number>(32).fill(0);
      sorted.forEach((i, rank) => {
        partial[rank % doubles] += mine[i];
        fixed[rank % 32] += i;
      });
      for (let t = 0; t < doubles; t++) sums[b * doubles + t] = partial[doubles - 1 - t] + fixed[t];
    }
  },
  outputs: { sums: 'exact', order: 'exact', flags: 'exact' },
});
