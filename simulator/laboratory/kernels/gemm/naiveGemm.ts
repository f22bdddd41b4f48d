import { kernelFixture } from '../kernelFixture.js';
import { fma32 } from '../numerics.js';
import { uniform } from '../seededInputs.js';

const [m, n, k] = [19, 23, 31];
const { fround } = Math;
const [alpha, beta] = [fround(1.3), fround(-0.7)];

export const naiveGemm = kernelFixture({
  ptx: new URL('./naiveGemm.ptx', import.meta.url),
  buffers: () => ({ a: uniform(m * k, 41), b: uniform(k * n, 42), c: uniform(m * n, 43) }),
  launches: [
    {
      kernel: 'naiveGemm',
      grid: [3, 3],
      block: [8, 8],
      args: [
        { buffer: 'a' },
        { buffer: 'b' },
        { buffer: 'c' },
        { i32: m },
        { i32: n },
        { i32: k },
        { f32: alpha },
        { f32: beta },
      ],
    },
  ],
  reference: ({ a, b, c }) =>
    c.forEach((old, at) => {
      const [row, column] = [Math.floor(at / n), at % n];
      let sum = 0;
      for (let i = 0; i < k; i++) sum = fma32(a[row * k + i], b[i * n + column], sum);
      c[at] = fma32(alpha, sum, fround(beta * old));
    }),
  outputs: { c: 'exact' },
});
