import { kernelFixture } from '../kernelFixture.js';
import { fma64 } from '../numerics.js';
import { uniformDoubles } from '../seededInputs.js';

const [m, n, k] = [9, 12, 17];

export const doubleGemm = kernelFixture({
  ptx: new URL('./doubleGemm.ptx', import.meta.url),
  buffers: () => ({
    a: uniformDoubles(m * k, 54),
    b: uniformDoubles(k * n, 55, -1e6, 1e6),
    c: new Float64Array(m * n),
  }),
  launches: [
    {
      kernel: 'doubleGemm',
      grid: [1, 3],
      block: [8, 4],
      args: [{ buffer: 'a' }, { buffer: 'b' }, { buffer: 'c' }, { i32: m }, { i32: n / 2 }, { i32: k }],
    },
  ],
  reference: ({ a, b, c }) =>
    c.forEach((_, at) => {
      const [row, column] = [Math.floor(at / n), at % n];
      for (let i = 0; i < k; i++) c[at] = fma64(a[row * k + i], b[i * n + column], c[at]);
    }),
  outputs: { c: 'exact' },
});
