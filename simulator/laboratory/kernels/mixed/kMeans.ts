import { kernelFixture } from '../kernelFixture.js';
import { fma32, roundTiesToEven } from '../numerics.js';
import { uniform } from '../seededInputs.js';

const [n, clusters] = [300, 5];
const { fround } = Math;

export const kMeans = kernelFixture({
  ptx: new URL('./kMeans.ptx', import.meta.url),
  buffers: () => ({
    points: uniform(2 * n, 182, -8, 8),
    // The last centre is too far to win a point.
    centres: Float32Array.of(-4, -4, 4, -3, 0, 1, 2, 5, 100, 100),
    nearest: new Int32Array(n),
    sums: new BigInt64Array(2 * clusters),
    counts: new Int32Array(clusters),
  }),
  launches: [
    {
      kernel: 'assign',
      grid: 4,
      block: 96,
      args: [
        { buffer: 'points' },
        { buffer: 'centres' },
        { buffer: 'nearest' },
        { buffer: 'sums' },
        { buffer: 'counts' },
        { i32: n },
      ],
    },
    {
      kernel: 'moveCentres',
      grid: 1,
      block: 32,
      args: [{ buffer: 'centres' }, { buffer: 'sums' }, { buffer: 'counts' }],
    },
  ],
  reference: ({ points, centres, nearest, sums, counts }) => {
    for (let i = 0; i < n; i++) {
      const [x, y] = [points[2 * i], points[2 * i + 1]];
      let least = Infinity;
      for (let k = 0; k < clusters; k++) {
        const [dx, dy] = [fround(x - centres[2 * k]), fround(y - centres[2 * k + 1])];
        const distance = fma32(dx, dx, fround(dy * dy));
        if (!(distance < least)) continue;
        least = distance;
        nearest[i] = k;
      }
      [x, y].forEach((value, axis) => {
        sums[2 * nearest[i] + axis] += BigInt(roundTiesToEven(fround(value * 65536)));
      });
      counts[nearest[i]]++;
    }
    for (let k = 0; k < clusters; k++) {
      if (counts[k] === 0) continue;
      for (const at of [2 * k, 2 * k + 1]) centres[at] = Number(sums[at]) / 65536 / counts[k];
    }
  },
  outputs: { nearest: 'exact', sums: 'exact', counts: 'exact', centres: 'exact' },
});
