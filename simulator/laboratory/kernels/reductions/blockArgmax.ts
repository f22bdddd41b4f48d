import { kernelFixture } from '../kernelFixture.js';
import { uniform } from '../seededInputs.js';

const [rows, columns] = [5, 250];

export const blockArgmax = kernelFixture({
  ptx: new URL('./blockArgmax.ptx', import.meta.url),
  buffers: () => {
    // Few distinct values, so that ties decide; a NaN in each row; the last row is all equal.
    const x = uniform(rows * columns, 14, 0, 20).map(Math.floor);
    for (let row = 0; row < rows; row++) x[row * columns + 17 * row] = NaN;
    x.fill(-3, (rows - 1) * columns);
    return { x, indices: new Int32Array(rows), values: new Float32Array(rows) };
  },
  launches: [
    {
      kernel: 'blockArgmax',
      grid: rows,
      block: 96,
      args: [{ buffer: 'x' }, { buffer: 'indices' }, { buffer: 'values' }, { i32: columns }],
    },
  ],
  reference: ({ x, indices, values }) => {
    for (let row = 0; row < rows; row++) {
      values[row] = -Infinity;
      for (let c = 0; c < columns; c++) {
        if (!(x[row * columns + c] > values[row])) continue;
        values[row] = x[row * columns + c];
        indices[row] = c;
      }
    }
  },
  outputs: { indices: 'exact', values: 'exact' },
});
