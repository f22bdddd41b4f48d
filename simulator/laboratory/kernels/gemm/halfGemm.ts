import { kernelFixture } from '../kernelFixture.js';
import { fma32, fromHalf, toHalf } from '../numerics.js';
import { uniform } from '../seededInputs.js';

const [m, n, k] = [6, 40, 24];

export const halfGemm = kernelFixture({
  ptx: new URL('./halfGemm.ptx', import.meta.url),
  buffers: () => ({
    a: Uint16Array.from(uniform(m * k, 56, -2, 2), toHalf),
    b: Uint16Array.from(uniform(k * n, 57, -2, 2), toHalf),
    c: new Uint16Array(m * n),
  }),
  launches: [
    {
      kernel: 'halfGemm',
      grid: [1, m],
      block: 32,
      args: [{ buffer: 'a' }, { buffer: 'b' }, { buffer: 'c' }, { i32: m }, { i32: n / 2 }, { i32: k }],
    },
  ],
  reference: ({ a, b, c }) =>
    c.forEach((_, at) => {
      const [row, column] = [Math.floor(at / n), at % n];
      let sum = 0;
      for (let i = 0; i < k; i++) sum = fma32(fromHalf(a[row * k + i]), fromHalf(b[i * n + column]), sum);
      c[at] = toHalf(sum);
    }),
  outputs: { c: 'exact' },
});
