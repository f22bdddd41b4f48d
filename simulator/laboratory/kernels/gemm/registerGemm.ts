import { kernelFixture } from '../kernelFixture.js';
import { fma32 } from '../numerics.js';
import { uniform } from '../seededInputs.js';

const [n, k] = [64, 16];

export const registerGemm = kernelFixture({
  ptx: new URL('./registerGemm.ptx', import.meta.url),
  buffers: () => ({ a: uniform(k * n, 46), b: uniform(k * n, 47), c: new Float32Array(n * n) }),
  launches: [
    {
      kernel: '_Z12registerGemmPK6float4S1_PS_ii',
      grid: [2, 2],
      block: 64,
      args: [{ buffer: 'a' }, { buffer: 'b' }, { buffer: 'c' }, { i32: n }, { i32: k }],
    },
  ],
  reference: ({ a, b, c }) =>
    c.forEach((_, at) => {
      const [row, column] = [Math.floor(at / n), at % n];
      let sum = 0;
      for (let i = 0; i < k; i++) sum = fma32(a[i * n + row], b[i * n + column], sum);
      c[at] = sum;
    }),
  outputs: { c: 'exact' },
});
