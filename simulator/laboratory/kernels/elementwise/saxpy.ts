import { kernelFixture } from '../kernelFixture.js';
import { fma32 } from '../numerics.js';
import { uniform } from '../seededInputs.js';

const n = 1000;
const a = Math.fround(2.7);

export const saxpy = kernelFixture({
  ptx: new URL('./saxpy.ptx', import.meta.url),
  buffers: () => ({ x: uniform(n, 1, -3, 3), y: uniform(n, 2) }),
  launches: [
    {
      kernel: 'saxpy',
      grid: 3,
      block: 128,
      args: [{ i32: n }, { f32: a }, { buffer: 'x' }, { buffer: 'y' }],
    },
  ],
  reference: ({ x, y }) => y.forEach((value, i) => (y[i] = fma32(a, x[i], value))),
  outputs: { y: 'exact' },
});
