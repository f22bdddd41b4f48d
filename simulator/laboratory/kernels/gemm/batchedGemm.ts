import { kernelFixture } from '../kernelFixture.js';
import { fma32 } from '../numerics.js';
import { uniform } from '../seededInputs.js';

const [m, n, k, batch] = [5, 7, 9, 6];
/** The last member is a bool: one byte, and three to the structure's end. */
const shape = { struct: [{ i32: m }, { i32: n }, { i32: k }, { u32: 1 }] };

export const batchedGemm = kernelFixture({
  ptx: new URL('./batchedGemm.ptx', import.meta.url),
  buffers: () => ({
    a: uniform(batch * m * k, 48),
    b: uniform(batch * k * n, 49),
    c: new Float32Array(batch * m * n),
    as: new BigUint64Array(batch),
    bs: new BigUint64Array(batch),
    cs: new BigUint64Array(batch),
  }),
  launches: [
    {
      kernel: 'fillTables',
      grid: 1,
      block: 32,
      args: [
        { buffer: 'a' },
        { buffer: 'b' },
        { buffer: 'c' },
        { buffer: 'as' },
        { buffer: 'bs' },
        { buffer: 'cs' },
        shape,
        { i32: batch },
      ],
    },
    {
      kernel: 'batchedGemm',
      grid: [1, 1, batch],
      block: 32,
      args: [{ buffer: 'as' }, { buffer: 'bs' }, { buffer: 'cs' }, shape],
    },
  ],
  reference: ({ a, b, c }) => {
    for (let i = 0; i < batch; i++) {
      const [firstA, firstB, firstC] = [i * m * k, (batch - 1 - i) * k * n, i * m * n];
      for (let row = 0; row < m; row++) {
        for (let column = 0; column < n; column++) {
          let sum = 0;
          for (let j = 0; j < k; j++) sum = fma32(a[firstA + j * m + row], b[firstB + j * n + column], sum);
          c[firstC + row * n + column] = sum;
        }
      }
    }
  },
  outputs: { c: 'exact' },
});
