import { kernelFixture } from '../kernelFixture.js';
import { integers } from '../seededInputs.js';

const [n, bins] = [470, 11];

export const warpHistogram = kernelFixture({
  ptx: new URL('./warpHistogram.ptx', import.meta.url),
  buffers: () => ({
    // The third warp holds one value only.
    values: integers(n, 123, 0, 1000).fill(40, 64, 96),
    byMatch: new Int32Array(bins),
    byBallot: new Int32Array(bins),
    wholeWarps: new Int32Array(1),
  }),
  launches: [
    {
      kernel: 'warpHistogram',
      grid: 4,
      block: 128,
      args: [
        { buffer: 'values' },
        { buffer: 'byMatch' },
        { buffer: 'byBallot' },
        { buffer: 'wholeWarps' },
        { i32: bins },
        { i32: n },
      ],
    },
  ],
  reference: ({ values, byMatch, byBallot, wholeWarps }) => {
    for (const value of values) byMatch[value % bins]++;
    byBallot.set(byMatch);
    for (let first = 0; first < n; first += 32) {
      const found = new Set(values.subarray(first, first + 32).map((value) => value % bins));
      if (found.size === 1) wholeWarps[0]++;
    }
  },
  outputs: { byMatch: 'exact', byBallot: 'exact', wholeWarps: 'exact' },
});
