import { kernelFixture } from '../kernelFixture.js';
import { uniform } from '../seededInputs.js';

const n = 1111;
const blocks = 4;

/** Folds the upper half onto the lower until one is left. */
function fold(values: number[]): number {
  if (values.length === 1) return values[0];
  const half = values.length / 2;
  return fold(values.slice(0, half).map((value, i) => value + values[i + half]));
}

export const twoPassSum = kernelFixture({
  ptx: new URL('./twoPassSum.ptx', import.meta.url),
  buffers: () => ({
    x: uniform(n, 13, 3, 9),
    partial: new Float64Array(2 * blocks),
    moments: new Float64Array(2),
  }),
  launches: [
    {
      kernel: 'partialMoments',
      grid: blocks,
      block: 64,
      args: [{ buffer: 'x' }, { buffer: 'partial' }, { i32: n }],
    },
    {
      kernel: 'foldMoments',
      grid: 1,
      block: 32,
      args: [{ buffer: 'partial' }, { buffer: 'moments' }, { i32: blocks }, { i32: n }],
    },
  ],
  reference: ({ x, partial, moments }) => {
    const threads = (b: number, term: (v: number) => number): number[] =>
      Array.from({ length: 64 }, (_, t) => {
        let sum = 0;
        for (let i = b * 64 + t; i < n; i += blocks * 64) sum += term(x[i]);
        return sum;
      });
    let [sum, squares] = [0, 0];
    for (let b = 0; b < blocks; b++) {
      partial[2 * b] = fold(threads(b, (v) => v));
      partial[2 * b + 1] = fold(threads(b, (v) => v * v));
      sum += partial[2 * b];
      squares += partial[2 * b + 1];
    }
    const mean = sum / n;
    moments[0] = mean;
    moments[1] = Math.sqrt(squares / n - mean * mean);
  },
  outputs: { partial: 'exact', moments: 'exact' },
});
