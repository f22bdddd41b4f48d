import { kernelFixture } from '../kernelFixture.js';
import { uniform } from '../seededInputs.js';

const [rows, columns, clusterBlocks, threads] = [3, 1003, 4, 96];

/** Sums in single precision, as the warps, the blocks and the cluster make them. */
function clusterSum(row: Float32Array): number {
  const add = (a: number, b: number): number => Math.fround(a + b);
  const own = Array.from({ length: clusterBlocks * threads }, (_, place) => {
    let sum = 0;
    for (let i = place; i < row.length; i += clusterBlocks * threads) sum = add(sum, row[i]);
    return sum;
  });
  const blocks = Array.from({ length: clusterBlocks }, (_, block) => {
    let total = 0;
    for (let warp = 0; warp < threads / 32; warp++) {
      let lanes = own.slice(block * threads + warp * 32, block * threads + warp * 32 + 32);
      for (let by = 16; by > 0; by >>= 1) lanes = lanes.map((value, lane) => add(value, lanes[lane ^ by]));
      total = add(total, lanes[0]);
    }
    return total;
  });
  return blocks.reduce(add, 0);
}

export const clusterReduction = kernelFixture({
  ptx: new URL('./clusterReduction.ptx', import.meta.url),
  buffers: () => ({
    input: uniform(rows * columns, 502, -1, 1),
    sums: new Float32Array(rows),
    ranks: new Int32Array(rows * clusterBlocks),
  }),
  launches: [
    {
      kernel: 'clusterReduction',
      grid: rows * clusterBlocks,
      block: threads,
      args: [{ buffer: 'sums' }, { buffer: 'ranks' }, { buffer: 'input' }, { i32: columns }],
    },
  ],
  reference: ({ input, sums, ranks }) => {
    for (let row = 0; row < rows; row++)
      sums[row] = clusterSum(input.subarray(row * columns, (row + 1) * columns));
    ranks.forEach((_, block) => (ranks[block] = 30 + (block % clusterBlocks)));
  },
  outputs: { sums: 'exact', ranks: 'exact' },
});
