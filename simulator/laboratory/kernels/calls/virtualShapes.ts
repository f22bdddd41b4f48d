import { kernelFixture } from '../kernelFixture.js';
import { uniformDoubles } from '../seededInputs.js';

const n = 50;

function areaOf(i: number, size: number): number {
  if (i % 3 === 1) return 3 * ((size + 1) * (size + 1) - size * size);
  return i % 3 === 0 ? size * size : (size * size) / 2;
}

export const virtualShapes = kernelFixture({
  ptx: new URL('./virtualShapes.ptx', import.meta.url),
  buffers: () => ({
    arena: new Uint8Array(64 * n),
    shapes: new BigUint64Array(n),
    sizes: uniformDoubles(n, 174, 0, 5),
    areas: new Float64Array(n),
    scaled: new Float64Array(n),
  }),
  launches: [
    {
      kernel: 'buildShapes',
      grid: 2,
      block: 32,
      args: [{ buffer: 'arena' }, { buffer: 'shapes' }, { buffer: 'sizes' }, { i32: n }],
    },
    {
      kernel: 'measureShapes',
      grid: 2,
      block: 32,
      args: [{ buffer: 'shapes' }, { buffer: 'areas' }, { buffer: 'scaled' }, { i32: n }],
    },
  ],
  reference: ({ sizes, areas, scaled }) =>
    sizes.forEach((size, i) => {
      areas[n - 1 - i] = areaOf(i, size);
      scaled[i] = areaOf(i, size) * 1.5 * 1.5 - (i % 3 === 1 ? i : 0);
    }),
  outputs: { areas: 'exact', scaled: 'exact' },
});
