import { kernelFixture } from '../kernelFixture.js';
import { roundTiesToEven } from '../numerics.js';
import { randomBytes, uniform } from '../seededInputs.js';

const [m, n, k] = [7, 50, 48];

export const int8Gemm = kernelFixture({
  ptx: new URL('./int8Gemm.ptx', import.meta.url),
  buffers: () => ({
    a: new Int8Array(randomBytes(m * k, 51)),
    b: new Int8Array(randomBytes(n * k, 52)),
    scales: uniform(n, 53, 0.001, 0.004),
    sums: new Int32Array(m * n),
    out: new Int8Array(m * n),
  }),
  launches: [
    {
      kernel: 'int8Gemm',
      grid: [2, m],
      block: 32,
      args: [
        { buffer: 'a' },
        { buffer: 'b' },
        { buffer: 'scales' },
        { buffer: 'sums' },
        { buffer: 'out' },
        { i32: m },
        { i32: n },
        { i32: k / 4 },
      ],
    },
  ],
  reference: ({ a, b, scales, sums, out }) =>
    sums.forEach((_, at) => {
      const [row, column] = [Math.floor(at / n), at % n];
      for (let i = 0; i < k; i++) sums[at] += a[row * k + i] * b[column * k + i];
      const scaled = Math.fround(Math.fround(sums[at]) * scales[column]);
      out[at] = Math.max(-128, Math.min(127, roundTiesToEven(scaled)));
    }),
  outputs: { sums: 'exact', out: 'exact' },
});
