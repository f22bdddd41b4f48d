import { kernelFixture } from '../kernelFixture.js';
import { fma32 } from '../numerics.js';
import { uniform } from '../seededInputs.js';

const [width, height, steps] = [30, 20, 6];
const { fround } = Math;
const rate = fround(0.2);

/** One step on an array; also what the cooperative kernel does many times over. */
export function heatStep(now: Float32Array, columns: number, factor: number): Float32Array {
  return now.map((centre, at) => {
    const [x, rows] = [at % columns, now.length / columns];
    const y = Math.floor(at / columns);
    if (x === 0 || y === 0 || x === columns - 1 || y === rows - 1) return centre;
    const sides = fround(now[at - 1] + now[at + 1]);
    const around = fround(sides + fround(now[at - columns] + now[at + columns]));
    return fma32(factor, fma32(-4, centre, around), centre);
  });
}

export const heat2d = kernelFixture({
  ptx: new URL('./heat2d.ptx', import.meta.url),
  buffers: () => ({ a: uniform(width * height, 81, 0, 100), b: new Float32Array(width * height) }),
  launches: Array.from({ length: steps }, (_, step) => ({
    kernel: 'heat2d',
    grid: [2, 5] as const,
    block: [16, 4] as const,
    args: [
      { buffer: step % 2 === 0 ? 'a' : 'b' } as const,
      { buffer: step % 2 === 0 ? 'b' : 'a' } as const,
      { i32: width },
      { i32: height },
      { f32: rate },
    ],
  })),
  reference: ({ a, b }) => {
    for (let step = 0; step < steps; step += 2) {
      b.set(heatStep(a, width, rate));
      a.set(heatStep(b, width, rate));
    }
  },
  outputs: { a: 'exact', b: 'exact' },
});
