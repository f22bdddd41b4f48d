import { kernelFixture } from '../kernelFixture.js';
import { uniform } from '../seededInputs.js';

const [rows, columns] = [4, 150];
const { fround, sqrt } = Math;

/** The sum that 64 threads make: each its own stride, then the upper half onto the lower. */
function blockSum(values: Float32Array): number {
  let sums = new Float32Array(64);
  values.forEach((value, c) => (sums[c % 64] += value));
  while (sums.length > 1) {
    const upper = sums.subarray(sums.length / 2);
    sums = sums.slice(0, sums.length / 2).map((value, i) => value + upper[i]);
  }
  return sums[0];
}

export const layerNorm = kernelFixture({
  ptx: new URL('./layerNorm.ptx', import.meta.url),
  buffers: () => ({
    x: uniform(rows * columns, 75, -2, 5),
    gain: uniform(columns, 76, 0.5, 1.5),
    bias: uniform(columns, 77),
    y: new Float32Array(rows * columns),
    means: new Float32Array(rows),
  }),
  launches: [
    {
      kernel: 'layerNorm',
      grid: rows,
      block: 64,
      args: [
        { buffer: 'x' },
        { buffer: 'gain' },
        { buffer: 'bias' },
        { buffer: 'y' },
        { buffer: 'means' },
        { i32: columns },
      ],
    },
  ],
  reference: ({ x, gain, bias, y, means }) => {
    for (let row = 0; row < rows; row++) {
      const values = x.subarray(row * columns, (row + 1) * columns);
      const mean = fround(blockSum(values) / columns);
      const centred = values.map((value) => value - mean);
      const variance = fround(blockSum(centred.map((value) => value * value)) / columns);
      const deviation = fround(sqrt(fround(variance + fround(1e-5))));
      const scaled = centred.map((value) => value / deviation).map((value, c) => value * gain[c]);
      y.set(
        scaled.map((value, c) => value + bias[c]),
        row * columns,
      );
      means[row] = mean;
    }
  },
  outputs: { y: 'exact', means: 'exact' },
});
