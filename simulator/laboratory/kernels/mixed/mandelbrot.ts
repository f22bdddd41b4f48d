import { kernelFixture } from '../kernelFixture.js';

const [width, height, limit] = [24, 16, 60];
const { fround } = Math;
const [left, top, step] = [fround(-2.1), fround(-1.2), fround(0.13)];

function escape(cr: number, ci: number, round: (value: number) => number): number {
  let [r, i, count] = [0, 0, 0];
  while (count < limit && round(round(r * r) + round(i * i)) <= 4) {
    const next = round(round(round(r * r) - round(i * i)) + cr);
    i = round(round(round(2 * r) * i) + ci);
    r = next;
    count++;
  }
  return count;
}

export const mandelbrot = kernelFixture({
  ptx: new URL('./mandelbrot.ptx', import.meta.url),
  buffers: () => ({ singles: new Int32Array(width * height), doubles: new Int32Array(width * height) }),
  launches: [
    {
      kernel: 'mandelbrot',
      grid: [3, 4],
      block: [8, 4],
      args: [
        { buffer: 'singles' },
        { buffer: 'doubles' },
        { i32: width },
        { i32: height },
        { f32: left },
        { f32: top },
        { f32: step },
        { i32: limit },
      ],
    },
  ],
  reference: ({ singles, doubles }) =>
    singles.forEach((_, at) => {
      const [x, y] = [at % width, Math.floor(at / width)];
      singles[at] = escape(fround(left + fround(x * step)), fround(top + fround(y * step)), fround);
      doubles[at] = escape(left + x * step, top + y * step, (value) => value);
    }),
  outputs: { singles: 'exact', doubles: 'exact' },
});
