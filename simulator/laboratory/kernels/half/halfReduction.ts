import { kernelFixture } from '../kernelFixture.js';
import { fromHalf, hround, toHalf } from '../numerics.js';
import { uniform } from '../seededInputs.js';

const [rows, columns] = [5, 150];
const { fround } = Math;

/** Lane 0 after halving a warp's values onto themselves. */
function fold(lanes: number[], add: (a: number, b: number) => number): number {
  if (lanes.length === 1) return lanes[0];
  const half = lanes.length / 2;
  return fold(
    lanes.slice(0, half).map((value, i) => add(value, lanes[i + half])),
    add,
  );
}

export const halfReduction = kernelFixture({
  ptx: new URL('./halfReduction.ptx', import.meta.url),
  buffers: () => ({
    x: Uint16Array.from(uniform(rows * columns, 153, -30, 60), toHalf),
    sums: new Uint16Array(rows),
    floats: new Float32Array(rows),
    largest: new Uint16Array(rows),
  }),
  launches: [
    {
      kernel: 'halfReduction',
      grid: rows,
      block: 32,
      args: [
        { buffer: 'x' },
        { buffer: 'sums' },
        { buffer: 'floats' },
        { buffer: 'largest' },
        { i32: columns },
      ],
    },
  ],
  reference: ({ x, sums, floats, largest }) => {
    const addHalf = (a: number, b: number): number => hround(a + b);
    const addFloat = (a: number, b: number): number => fround(a + b);
    for (let row = 0; row < rows; row++) {
      const values = Array.from(x.subarray(row * columns, (row + 1) * columns), fromHalf);
      const [low, high, both] = [0, 1, 2].map(() => new Array<number>(32).fill(0));
      values.forEach((value, c) => {
        const lane = (c >> 1) % 32;
        const halves = c % 2 === 0 ? low : high;
        halves[lane] = addHalf(halves[lane], value);
        both[lane] = addFloat(both[lane], value);
      });
      sums[row] = toHalf(addHalf(fold(low, addHalf), fold(high, addHalf)));
      floats[row] = fold(both, addFloat);
      largest[row] = toHalf(Math.max(...values));
    }
  },
  outputs: { sums: 'exact', floats: 'exact', largest: 'exact' },
});
