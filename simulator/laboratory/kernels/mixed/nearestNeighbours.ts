import { kernelFixture } from '../kernelFixture.js';
import { fma32 } from '../numerics.js';
import { uniform } from '../seededInputs.js';

const [n, queryCount, k] = [210, 6, 4];
const { fround } = Math;

export const nearestNeighbours = kernelFixture({
  ptx: new URL('./nearestNeighbours.ptx', import.meta.url),
  buffers: () => {
    const points = uniform(4 * n, 189);
    // Twins, so that ties are broken by the index.
    points.copyWithin(4 * 100, 0, 4 * 40);
    return {
      points,
      queries: uniform(4 * queryCount, 190),
      indices: new Int32Array(k * queryCount),
      distances: new Float32Array(k * queryCount),
    };
  },
  launches: [
    {
      kernel: 'nearestNeighbours',
      grid: queryCount,
      block: 32,
      args: [
        { buffer: 'points' },
        { buffer: 'queries' },
        { buffer: 'indices' },
        { buffer: 'distances' },
        { i32: n },
      ],
    },
  ],
  reference: ({ points, queries, indices, distances }) => {
    for (let q = 0; q < queryCount; q++) {
      const all = Array.from({ length: n }, (_, i) => {
        const [dx, dy, dz, dw] = [0, 1, 2, 3].map((axis) =>
          fround(points[4 * i + axis] - queries[4 * q + axis]),
        );
        return fma32(dx, dx, fma32(dy, dy, fma32(dz, dz, fround(dw * dw))));
      });
      const order = Array.from(all.keys()).sort((a, b) => all[a] - all[b] || a - b);
      indices.set(order.slice(0, k), q * k);
      distances.set(
        order.slice(0, k).map((i) => all[i]),
        q * k,
      );
    }
  },
  outputs: { indices: 'exact', distances: 'exact' },
});
