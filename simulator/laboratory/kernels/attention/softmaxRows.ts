import { kernelFixture } from '../kernelFixture.js';
import { uniform } from '../seededInputs.js';

const [rows, columns] = [7, 45];
const scale = Math.fround(0.3);

export const softmaxRows = kernelFixture({
  ptx: new URL('./softmaxRows.ptx', import.meta.url),
  buffers: () => ({
    x: uniform(rows * columns, 71, -20, 20),
    y: new Float32Array(rows * columns),
  }),
  launches: [
    {
      kernel: 'softmaxRows',
      grid: 2,
      block: [32, 4],
      args: [{ buffer: 'x' }, { buffer: 'y' }, { i32: rows }, { i32: columns }, { f32: scale }],
    },
  ],
  reference: ({ x, y }) => {
    for (let first = 0; first < rows * columns; first += columns) {
      const row = Float64Array.from(x.subarray(first, first + columns), (value) => value * scale);
      const most = Math.max(...row);
      const powers = row.map((value) => Math.exp(value - most));
      const sum = powers.reduce((a, b) => a + b, 0);
      y.set(
        powers.map((power) => power / sum),
        first,
      );
    }
  },
  outputs: { y: { relative: 4e-6, absolute: 1e-30 } },
});
