import { kernelFixture } from '../kernelFixture.js';
import { integers } from '../seededInputs.js';

const [threads, each] = [40, 24];

/** How deep the same partition scheme goes (Hoare's, pivot in the middle). */
function depthOf(data: Int32Array, depth: number): number {
  if (data.length <= 1) return depth;
  const pivot = data[(data.length - 1) >> 1];
  let [i, j] = [0, data.length - 1];
  while (i <= j) {
    while (data[i] < pivot) i++;
    while (data[j] > pivot) j--;
    if (i > j) break;
    [data[i], data[j]] = [data[j], data[i]];
    i++;
    j--;
  }
  return Math.max(depthOf(data.slice(0, j + 1), depth + 1), depthOf(data.slice(i), depth + 1));
}

export const quickSort = kernelFixture({
  ptx: new URL('./quickSort.ptx', import.meta.url),
  buffers: () => ({ data: integers(threads * each, 171, -500, 500), depths: new Int32Array(threads) }),
  launches: [
    {
      kernel: 'quickSort',
      grid: 2,
      block: 20,
      args: [{ buffer: 'data' }, { buffer: 'depths' }, { i32: each }],
    },
  ],
  reference: ({ data, depths }) =>
    depths.forEach((_, t) => {
      const slice = data.subarray(t * each, (t + 1) * each);
      depths[t] = depthOf(slice.slice(), 1);
      slice.sort();
    }),
  outputs: { data: 'exact', depths: 'exact' },
});
