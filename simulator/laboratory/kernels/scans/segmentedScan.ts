import { kernelFixture } from '../kernelFixture.js';
import { hash, integers } from '../seededInputs.js';

const n = 300;

export const segmentedScan = kernelFixture({
  ptx: new URL('./segmentedScan.ptx', import.meta.url),
  buffers: () => ({
    values: integers(n, 24, -9, 100),
    heads: Uint8Array.from({ length: n }, (_, i) => (hash(i, 25) % 7 === 0 ? 1 : 0)),
    sums: new Int32Array(n),
    lengths: new Int32Array(n),
  }),
  launches: [
    {
      kernel: 'segmentedScan',
      grid: 5,
      block: 64,
      args: [
        { buffer: 'values' },
        { buffer: 'heads' },
        { buffer: 'sums' },
        { buffer: 'lengths' },
        { i32: n },
      ],
    },
  ],
  reference: ({ values, heads, sums, lengths }) =>
    values.forEach((value, i) => {
      const starts = i % 32 === 0 || heads[i] === 1;
      sums[i] = value + (starts ? 0 : sums[i - 1]);
      lengths[i] = 1 + (starts ? 0 : lengths[i - 1]);
    }),
  outputs: { sums: 'exact', lengths: 'exact' },
});
