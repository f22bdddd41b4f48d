import { kernelFixture } from '../kernelFixture.js';
import { roundTiesToEven } from '../numerics.js';
import { uniform } from '../seededInputs.js';

const [rows, columns] = [6, 100];
const { fround } = Math;

export const quantise = kernelFixture({
  ptx: new URL('./quantise.ptx', import.meta.url),
  buffers: () => ({
    x: uniform(rows * columns, 7, -5, 5),
    q: new Int8Array(rows * columns),
    scales: new Float32Array(rows),
    back: new Float32Array(rows * columns),
    dots: new Int32Array(rows * rows),
  }),
  launches: [
    {
      kernel: 'quantise',
      grid: rows,
      block: 64,
      args: [{ buffer: 'x' }, { buffer: 'q' }, { buffer: 'scales' }, { i32: columns }],
    },
    {
      kernel: 'dequantise',
      grid: [rows, 2],
      block: 64,
      args: [{ buffer: 'q' }, { buffer: 'scales' }, { buffer: 'back' }, { i32: columns }],
    },
    {
      kernel: 'dotRows',
      grid: 2,
      block: 32,
      args: [{ buffer: 'q' }, { i32: columns / 4 }, { i32: rows }, { buffer: 'dots' }],
    },
  ],
  reference: ({ x, q, scales, back, dots }) => {
    for (let row = 0; row < rows; row++) {
      const line = x.subarray(row * columns, (row + 1) * columns);
      scales[row] = fround(line.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / 127);
      line.forEach((value, c) => {
        q[row * columns + c] = roundTiesToEven(fround(value / scales[row]));
        back[row * columns + c] = q[row * columns + c] * scales[row];
      });
    }
    dots.forEach((_, i) => {
      const [a, b] = [Math.floor(i / rows) * columns, (i % rows) * columns];
      for (let c = 0; c < columns; c++) dots[i] += q[a + c] * q[b + c];
    });
  },
  outputs: { q: 'exact', scales: 'exact', back: 'exact', dots: 'exact' },
});
