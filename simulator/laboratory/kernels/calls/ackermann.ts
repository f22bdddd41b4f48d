import { kernelFixture } from '../kernelFixture.js';

const threads = 32;

/** Value and number of calls. */
function ackermannOf(m: number, n: number): readonly [number, number] {
  if (m === 0) return [n + 1, 1];
  if (n === 0) {
    const [value, calls] = ackermannOf(m - 1, 1);
    return [value, calls + 1];
  }
  const [inner, innerCalls] = ackermannOf(m, n - 1);
  const [value, calls] = ackermannOf(m - 1, inner);
  return [value, innerCalls + calls + 1];
}

export const ackermann = kernelFixture({
  ptx: new URL('./ackermann.ptx', import.meta.url),
  buffers: () => ({
    values: new Int32Array(threads),
    calls: new Int32Array(threads),
    parities: new Int32Array(threads),
  }),
  launches: [
    {
      kernel: 'ackermannTable',
      grid: 1,
      block: threads,
      args: [{ buffer: 'values' }, { buffer: 'calls' }, { buffer: 'parities' }],
    },
  ],
  reference: ({ values, calls, parities }) => {
    for (let t = 0; t < threads; t++) {
      const n = t >> 2;
      const m = (t & 3) === 3 && n > 2 ? 2 : t & 3;
      [values[t], calls[t]] = ackermannOf(m, n);
      parities[t] = (t * 3) % 2 === 0 ? 2 : t % 2;
    }
  },
  outputs: { values: 'exact', calls: 'exact', parities: 'exact' },
});
