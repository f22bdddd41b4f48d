import { kernelFixture } from '../kernelFixture.js';
import { roundTiesToEven } from '../numerics.js';
import { permutation, uniform } from '../seededInputs.js';
import { randomMatrix } from './randomMatrix.js';

const matrix = randomMatrix(40, 60, 14, 109);
const entries = matrix.indices.length;

export const cooAtomics = kernelFixture({
  ptx: new URL('./cooAtomics.ptx', import.meta.url),
  buffers: () => {
    const order = permutation(entries, 112);
    const rowOf = (e: number): number => matrix.starts.findIndex((start) => start > e) - 1;
    return {
      rows: order.map(rowOf),
      columns: order.map((e) => matrix.indices[e]),
      values: Float32Array.from(order, (e) => matrix.values[e]),
      x: uniform(matrix.columns, 113, -3, 3),
      y: new Float32Array(matrix.rows),
      precise: new Float64Array(matrix.rows),
      fixedPoint: new BigUint64Array(matrix.rows),
    };
  },
  launches: [
    {
      kernel: 'cooAtomics',
      grid: Math.ceil(entries / 96),
      block: 96,
      args: [
        { buffer: 'rows' },
        { buffer: 'columns' },
        { buffer: 'values' },
        { buffer: 'x' },
        { buffer: 'y' },
        { buffer: 'precise' },
        { buffer: 'fixedPoint' },
        { i32: entries },
      ],
    },
  ],
  reference: ({ rows, columns, values, x, y, precise, fixedPoint }) => {
    rows.forEach((row, e) => {
      const product = Math.fround(values[e] * x[columns[e]]);
      precise[row] += product;
      fixedPoint[row] += BigInt(roundTiesToEven(product * 2 ** 30));
    });
    y.set(precise);
  },
  outputs: {
    y: { absolute: 4e-6, anyOrder: true },
    precise: { absolute: 1e-13, anyOrder: true },
    fixedPoint: 'exact',
  },
});
