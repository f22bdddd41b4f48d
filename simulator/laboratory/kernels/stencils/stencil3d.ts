import { kernelFixture } from '../kernelFixture.js';
import { uniformDoubles } from '../seededInputs.js';

const [nx, ny, nz] = [13, 9, 6];

export const stencil3d = kernelFixture({
  ptx: new URL('./stencil3d.ptx', import.meta.url),
  buffers: () => ({
    field: uniformDoubles(nx * ny * nz, 82, -5, 5),
    out: new Float64Array(nx * ny * nz),
  }),
  launches: [
    {
      kernel: 'stencil3d',
      grid: [2, 3],
      block: [8, 4],
      args: [{ buffer: 'field' }, { buffer: 'out' }, { i32: nx }, { i32: ny }, { i32: nz }],
    },
  ],
  reference: ({ field, out }) =>
    field.forEach((centre, at) => {
      const [x, y, z] = [at % nx, Math.floor(at / nx) % ny, Math.floor(at / nx / ny)];
      const onBorder = x === 0 || y === 0 || z === 0 || x === nx - 1 || y === ny - 1 || z === nz - 1;
      const flat = field[at - 1] + field[at + 1] + (field[at - nx] + field[at + nx]);
      const sum = flat + (field[at - nx * ny] + field[at + nx * ny]);
      out[at] = onBorder ? centre : 0.4 * centre + 0.1 * sum;
    }),
  outputs: { out: 'exact' },
});
