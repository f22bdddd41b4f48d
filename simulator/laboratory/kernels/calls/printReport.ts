import { kernelFixture } from '../kernelFixture.js';
import { integers } from '../seededInputs.js';

const n = 7;
const values = integers(n, 176, 1, 60);
const sum = values.reduce((a, b) => a + b, 0);

export const printReport = kernelFixture({
  ptx: new URL('./printReport.ptx', import.meta.url),
  buffers: () => ({ values: values.slice(), sums: new Int32Array(32) }),
  launches: [
    {
      kernel: 'printReport',
      grid: 1,
      block: 32,
      args: [{ buffer: 'values' }, { buffer: 'sums' }, { i32: n }],
    },
  ],
  reference: ({ sums }) => sums.forEach((_, t) => (sums[t] = sum + t)),
  outputs: { sums: 'exact' },
  printed:
    `sum of ${n} values: ${sum}, mean ${(sum / n).toFixed(3)}\n` +
    `text|${String(sum).padStart(5)}|${String(sum).padEnd(5)}|00007|beef|BEEF|k|1.234568e+04|0.0001|%|` +
    `${BigInt(sum) << 33n}|4000000000\n`,
});
