import { kernelFixture } from '../kernelFixture.js';
import { bround, fromBfloat, toBfloat } from '../numerics.js';
import { uniform } from '../seededInputs.js';

const [rows, columns] = [3, 300];
const { fround, sqrt } = Math;

export const bfloatNorm = kernelFixture({
  ptx: new URL('./bfloatNorm.ptx', import.meta.url),
  buffers: () => ({
    x: Uint16Array.from(uniform(rows * columns, 154, -3, 3), toBfloat),
    residual: Uint16Array.from(uniform(rows * columns, 155, -1, 1), toBfloat),
    gain: Uint16Array.from(uniform(columns, 156, 0.5, 2), toBfloat),
    y: new Uint16Array(rows * columns),
  }),
  launches: [
    {
      kernel: 'bfloatNorm',
      grid: rows,
      block: 128,
      args: [
        { buffer: 'x' },
        { buffer: 'residual' },
        { buffer: 'gain' },
        { buffer: 'y' },
        { i32: columns / 2 },
      ],
    },
  ],
  reference: ({ x, residual, gain, y }) => {
    x.forEach((bits, i) => (residual[i] = toBfloat(fromBfloat(bits) + fromBfloat(residual[i]))));
    for (let row = 0; row < rows; row++) {
      const values = Float32Array.from(residual.subarray(row * columns, (row + 1) * columns), fromBfloat);
      const squares = values.map((value) => value * value);
      let threads = new Float32Array(128);
      for (let p = 0; p < columns / 2; p++) threads[p % 128] += fround(squares[2 * p] + squares[2 * p + 1]);
      // A butterfly gives every lane of a warp the same sum: lane 0's.
      for (let delta = 16; delta >= 1; delta /= 2) {
        threads = threads.map((sum, t) => sum + threads[t ^ delta]);
      }
      const total = [32, 64, 96].reduce((sum, t) => fround(sum + threads[t]), threads[0]);
      const scale = fround(1 / fround(sqrt(fround(fround(total / columns) + fround(1e-6)))));
      values.forEach((value, c) => {
        const normal = bround(fround(value * scale));
        y[row * columns + c] = toBfloat(normal * fromBfloat(gain[c]));
      });
    }
  },
  outputs: { residual: 'exact', y: 'exact' },
});
