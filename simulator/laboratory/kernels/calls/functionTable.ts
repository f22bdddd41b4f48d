import { kernelFixture } from '../kernelFixture.js';
import { integers } from '../seededInputs.js';

const [threads, length] = [64, 9];
const operations: readonly ((a: number, b: number) => number)[] = [
  (a, b) => (a + b) | 0,
  (a, b) => (a - b) | 0,
  Math.imul,
  Math.max,
];

export const functionTable = kernelFixture({
  ptx: new URL('./functionTable.ptx', import.meta.url),
  buffers: () => ({
    programs: integers(threads * length, 172, 0, 4),
    values: integers(threads * length, 173, -40, 40),
    results: new Int32Array(threads),
    folds: new Int32Array(threads),
  }),
  launches: [
    {
      kernel: 'functionTable',
      grid: 2,
      block: 32,
      args: [
        { buffer: 'programs' },
        { buffer: 'values' },
        { buffer: 'results' },
        { buffer: 'folds' },
        { i32: length },
      ],
    },
  ],
  reference: ({ programs, values, results, folds }) => {
    for (let i = 0; i < threads; i++) {
      const mine = values.subarray(i * length, (i + 1) * length);
      results[i] = mine.reduce(
        (result, value, step) => operations[programs[i * length + step]](result, value),
        i,
      );
      const fold = operations[i % 3 === 0 ? 3 : i & 3];
      folds[i] = mine.reduce((result, value) => fold(result, value));
    }
  },
  outputs: { results: 'exact', folds: 'exact' },
});
