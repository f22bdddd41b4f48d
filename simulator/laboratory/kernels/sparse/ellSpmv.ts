import { kernelFixture } from '../kernelFixture.js';
import { fma64 } from '../numerics.js';
import { uniformDoubles } from '../seededInputs.js';
import { randomMatrix } from './randomMatrix.js';

const width = 10;
const matrix = randomMatrix(70, 50, width, 114);
const { rows } = matrix;

export const ellSpmv = kernelFixture({
  ptx: new URL('./ellSpmv.ptx', import.meta.url),
  buffers: () => {
    const columns = new Int32Array(rows * width).fill(-1);
    const values = new Float64Array(rows * width);
    for (let row = 0; row < rows; row++) {
      for (let e = matrix.starts[row]; e < matrix.starts[row + 1]; e++) {
        columns[(e - matrix.starts[row]) * rows + row] = matrix.indices[e];
        values[(e - matrix.starts[row]) * rows + row] = matrix.values[e] / 3;
      }
    }
    return { columns, values, x: uniformDoubles(matrix.columns, 117), y: new Float64Array(rows) };
  },
  launches: [
    {
      kernel: 'ellSpmv',
      grid: 3,
      block: 32,
      args: [
        { buffer: 'columns' },
        { buffer: 'values' },
        { buffer: 'x' },
        { buffer: 'y' },
        { i32: rows },
        { i32: width },
      ],
    },
  ],
  reference: ({ x, y }) =>
    y.forEach((_, row) => {
      for (let e = matrix.starts[row]; e < matrix.starts[row + 1]; e++) {
        y[row] = fma64(matrix.values[e] / 3, x[matrix.indices[e]], y[row]);
      }
    }),
  outputs: { y: 'exact' },
});
