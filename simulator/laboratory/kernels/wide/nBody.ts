import { kernelFixture } from '../kernelFixture.js';
import { uniformDoubles } from '../seededInputs.js';

const n = 50;
const padded = 64;

export const nBody = kernelFixture({
  ptx: new URL('./nBody.ptx', import.meta.url),
  buffers: () => ({
    bodies: uniformDoubles(4 * n, 161, 0, 10),
    accelerations: new Float64Array(3 * n),
  }),
  launches: [
    {
      kernel: 'nBody',
      grid: 2,
      block: 32,
      args: [{ buffer: 'bodies' }, { buffer: 'accelerations' }, { i32: n }],
    },
  ],
  reference: ({ bodies, accelerations }) => {
    for (let i = 0; i < n; i++) {
      // The last tile is filled up with bodies of no mass.
      for (let j = 0; j < padded; j++) {
        const [dx, dy, dz] = [0, 1, 2].map(
          (axis) => (j < n ? bodies[4 * j + axis] : 0) - bodies[4 * i + axis],
        );
        const square = dx * dx + dy * dy + dz * dz + 0.01;
        const pull = (j < n ? bodies[4 * j + 3] : 0) / (square * Math.sqrt(square));
        [dx, dy, dz].forEach((d, axis) => (accelerations[3 * i + axis] += pull * d));
      }
    }
  },
  outputs: { accelerations: 'exact' },
});
