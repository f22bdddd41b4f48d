import { kernelFixture } from '../kernelFixture.js';
import { hash } from '../seededInputs.js';

const n = 96;

export const collatz = kernelFixture({
  ptx: new URL('./collatz.ptx', import.meta.url),
  buffers: () => ({
    starts: BigUint64Array.from({ length: n }, (_, i) => BigInt(i < 3 ? i + 1 : 1 + (hash(i, 169) % 5000))),
    steps: new Int32Array(n),
    peaks: new BigUint64Array(n),
    mixed: new BigInt64Array(n),
  }),
  launches: [
    {
      kernel: 'collatz',
      grid: 2,
      block: 64,
      args: [{ buffer: 'starts' }, { buffer: 'steps' }, { buffer: 'peaks' }, { buffer: 'mixed' }, { i32: n }],
    },
  ],
  reference: ({ starts, steps, peaks, mixed }) =>
    starts.forEach((start, i) => {
      peaks[i] = start;
      for (let v = start; v !== 1n; steps[i]++) {
        v = v % 2n === 0n ? v / 2n : 3n * v + 1n;
        if (v > peaks[i]) peaks[i] = v;
      }
      const a = i % 2 === 0 ? peaks[i] : -peaks[i];
      const b = BigInt((i % 7) - 3);
      mixed[i] = b === 0n ? -1n : (a / b) * 1000n + (a % b) + a / 1_000_000_007n;
    }),
  outputs: { steps: 'exact', peaks: 'exact', mixed: 'exact' },
});
