import { kernelFixture } from '../kernelFixture.js';
import { fmaHalf, fromHalf, hround, toHalf } from '../numerics.js';
import { uniform } from '../seededInputs.js';

const n = 256;
const a = toHalf(1.7);
/** Subnormals, the largest, infinities, and products that overflow. */
const edges = [0x0001, 0x83ff, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x0000, 0x8000, 0x7800, 0x0400];

export const halfAxpy = kernelFixture({
  ptx: new URL('./halfAxpy.ptx', import.meta.url),
  buffers: () => {
    const x = Uint16Array.from(uniform(n, 151, -9, 9), toHalf);
    x.set(edges);
    return {
      x,
      y: Uint16Array.from(uniform(n, 152, -9, 9), toHalf),
      separate: new Uint16Array(n),
      extremes: new Uint16Array(n),
    };
  },
  launches: [
    {
      kernel: 'halfAxpy',
      grid: 2,
      block: 64,
      args: [
        { buffer: 'x' },
        { buffer: 'y' },
        { buffer: 'separate' },
        { buffer: 'extremes' },
        { half: a },
        { i32: n / 2 },
      ],
    },
  ],
  reference: ({ x, y, separate, extremes }) =>
    x.forEach((bits, i) => {
      const [v, old, scale] = [fromHalf(bits), fromHalf(y[i]), fromHalf(a)];
      separate[i] = toHalf(hround(scale * v) - old);
      const product = v > old ? hround(Math.abs(v)) : 0 * Math.abs(v);
      // 0 · infinity is a NaN, beside which hmax2 keeps the other.
      const least = Math.min(v, old);
      extremes[i] = toHalf(Number.isNaN(product) ? least : Math.max(least, product));
      y[i] = toHalf(fmaHalf(scale, v, old));
    }),
  outputs: { y: 'exact', separate: 'exact', extremes: 'exact' },
});
