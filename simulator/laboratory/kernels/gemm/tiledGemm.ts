import { kernelFixture } from '../kernelFixture.js';
import { fma32 } from '../numerics.js';
import { uniform } from '../seededInputs.js';

const [m, n, k] = [21, 37, 40];

export const tiledGemm = kernelFixture({
  ptx: new URL('./tiledGemm.ptx', import.meta.url),
  buffers: () => ({ a: uniform(m * k, 44), b: uniform(k * n, 45), c: new Float32Array(m * n) }),
  launches: [
    {
      kernel: 'tiledGemm',
      grid: [3, 2],
      block: [16, 16],
      args: [{ buffer: 'a' }, { buffer: 'b' }, { buffer: 'c' }, { i32: m }, { i32: n }, { i32: k }],
    },
  ],
  reference: ({ a, b, c }) =>
    c.forEach((_, at) => {
      const [row, column] = [Math.floor(at / n), at % n];
      let sum = 0;
      for (let i = 0; i < k; i++) sum = fma32(a[row * k + i], b[i * n + column], sum);
      c[at] = sum;
    }),
  outputs: { c: 'exact' },
});
