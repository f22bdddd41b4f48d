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
  // Who came first is open: items are put in order, and those of a bucket that ran over, where some found no room, go.
  settle: ({ buckets }) => {
    for (let first = 0; first < buckets.length; first += words) {
      const items = buckets.subarray(first + 3, first + words);
      if (buckets[first + 1] > items.length) items.fill(0);
      else items.subarray(0, buckets[first + 1]).sort();
    }
  },
  outputs: { buckets: 'exact' },
});
