import { kernelFixture } from '../kernelFixture.js';
import { integers } from '../seededInputs.js';

const [blocks, clusterBlocks, threads] = [8, 4, 64];
const [nbins, n] = [100, 1500];
const binsPerBlock = nbins / clusterBlocks;

export const clusterHistogram = kernelFixture({
  ptx: new URL('./clusterHistogram.ptx', import.meta.url),
  buffers: () => ({ input: integers(n, 501, -20, nbins + 20), bins: new Int32Array(nbins) }),
  launches: [
    {
      kernel: 'clusterHistogram',
      grid: blocks,
      block: threads,
      cluster: clusterBlocks,
      dynamicSharedBytes: binsPerBlock * 4,
      args: [{ buffer: 'bins' }, { i32: nbins }, { i32: binsPerBlock }, { buffer: 'input' }, { i32: n }],
    },
  ],
  reference: ({ input, bins }) => {
    for (const value of input) bins[Math.min(Math.max(value, 0), nbins - 1)] += 1;
  },
  outputs: { bins: 'exact' },
});
