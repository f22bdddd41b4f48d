import { kernelFixture } from '../kernelFixture.js';
import { fma32 } from '../numerics.js';
import { uniform } from '../seededInputs.js';
import { randomMatrix } from './randomMatrix.js';

const matrix = randomMatrix(130, 90, 12, 101);
const { rows } = matrix;

export const csrScalar = kernelFixture({
  ptx: new URL('./csrScalar.ptx', import.meta.url),
  buffers: () => ({
    starts: matrix.starts.slice(),
    columns: matrix.indices.slice(),
    values: matrix.values.slice(),
    x: uniform(matrix.columns, 104, -3, 3),
    y: new Float32Array(rows),
  }),
  launches: [
    {
      kernel: 'csrScalar',
      grid: 3,
      block: 64,
      args: [
        { buffer: 'starts' },
        { buffer: 'columns' },
        { buffer: 'values' },
        { buffer: 'x' },
        { buffer: 'y' },
        { i32: rows },
      ],
    },
  ],
  reference: ({ starts, columns, values, x, y }) =>
    y.forEach((_, row) => {
      for (let e = starts[row]; e < starts[row + 1]; e++) y[row] = fma32(values[e], x[columns[e]], y[row]);
    }),
  outputs: { y: 'exact' },
});
