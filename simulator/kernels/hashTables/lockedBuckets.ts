import { kernelFixture } from '../kernelFixture.js';
import { integers } from '../seededInputs.js';

const [n, bucketCount, words] = [260, 31, 15];

export const lockedBuckets = kernelFixture({
  ptx: new URL('./lockedBuckets.ptx', import.meta.url),
  buffers: () => ({
    values: integers(n, 135, 0, 5000),
    buckets: new Int32Array(bucketCount * words),
  }),
  launches: [
    {
      kernel: 'lockedBuckets',
      grid: 3,
      block: 96,
      args: [{ buffer: 'values' }, { buffer: 'buckets' }, { i32: bucketCount }, { i32: n }],
    },
  ],
  reference: ({ values, buckets }) =>
    values.forEach((value) => {
      const first = (value % bucketCount) * words;
      const count = buckets[first + 1]++;
      buckets[first + 2] += value;
      if (count < 12) buckets[first + 3 + count] = value;
    }),
  // Who came first is open: items are put in order.
  settle: ({ buckets }) => {
    for (let first = 0; first < buckets.length; first += words) {
      buckets.subarray(first + 3, first + 3 + Math.min(12, buckets[first + 1])).sort();
    }
  },
  outputs: { buckets: 'exact' },
});
