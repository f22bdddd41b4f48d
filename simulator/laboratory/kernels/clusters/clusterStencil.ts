import { kernelFixture } from '../kernelFixture.js';
import { fma32 } from '../numerics.js';
import { uniform } from '../seededInputs.js';

const [tile, steps] = [16, 3];
const grid = [4, 4] as const;
const [width, height] = [grid[0] * tile, grid[1] * tile];
/** Of the square of a cluster. */
const side = 2 * tile;
const rate = Math.fround(0.2);

function step(from: Float32Array): Float32Array {
  return from.map((here, at) => {
    const [x, y] = [at % width, Math.floor(at / width)];
    const read = (dx: number, dy: number): number => {
      const inside = (place: number, by: number): boolean =>
        (place % side) + by >= 0 && (place % side) + by < side;
      return inside(x, dx) && inside(y, dy) ? from[(y + dy) * width + x + dx] : 0;
    };
    const across = Math.fround(read(-1, 0) + read(1, 0));
    const along = Math.fround(read(0, -1) + read(0, 1));
    return fma32(rate, fma32(-4, here, Math.fround(across + along)), here);
  });
}

export const clusterStencil = kernelFixture({
  ptx: new URL('./clusterStencil.ptx', import.meta.url),
  buffers: () => ({ input: uniform(width * height, 503, 0, 100), out: new Float32Array(width * height) }),
  launches: [
    {
      kernel: 'clusterStencil',
      grid,
      block: [tile, tile],
      args: [{ buffer: 'out' }, { buffer: 'input' }, { i32: steps }, { f32: rate }],
    },
  ],
  reference: ({ input, out }) => {
    let now = input;
    for (let at = 0; at < steps; at++) now = step(now);
    out.set(now);
  },
  outputs: { out: 'exact' },
});
