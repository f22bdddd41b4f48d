import { kernelFixture } from '../kernelFixture.js';
import { fma32 } from '../numerics.js';
import { uniform } from '../seededInputs.js';
import { randomMatrix } from './randomMatrix.js';

const matrix = randomMatrix(45, 120, 40, 105);
const { rows } = matrix;

export const csrVector = kernelFixture({
  ptx: new URL('./csrVector.ptx', import.meta.url),
  buffers: () => ({
    starts: matrix.starts.slice(),
    columns: matrix.indices.slice(),
    values: matrix.values.slice(),
    x: uniform(matrix.columns, 108, -3, 3),
    y: new Float32Array(rows),
  }),
  launches: [
    {
      kernel: 'csrVector',
      grid: 3,
      block: 128,
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
      let lanes = new Float32Array(8);
      for (let e = starts[row]; e < starts[row + 1]; e++) {
        const lane = (e - starts[row]) % 8;
        lanes[lane] = fma32(values[e], x[columns[e]], lanes[lane]);
      }
      while (lanes.length > 1) {
        const upper = lanes.subarray(lanes.length / 2);
        lanes = lanes.slice(0, lanes.length / 2).map((sum, lane) => sum + upper[lane]);
      }
      y[row] = lanes[0];
    }),
  outputs: { y: 'exact' },
});
