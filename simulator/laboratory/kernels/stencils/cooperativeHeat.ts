import { kernelFixture } from '../kernelFixture.js';
import { uniform } from '../seededInputs.js';
import { heatStep } from './heat2d.js';

const [width, height, steps] = [24, 17, 5];
const rate = Math.fround(0.15);

export const cooperativeHeat = kernelFixture({
  ptx: new URL('./cooperativeHeat.ptx', import.meta.url),
  buffers: () => ({ a: uniform(width * height, 84, 0, 100), b: new Float32Array(width * height) }),
  launches: [
    {
      kernel: 'cooperativeHeat',
      grid: 5,
      block: 48,
      cooperative: true,
      args: [
        { buffer: 'a' },
        { buffer: 'b' },
        { i32: width },
        { i32: height },
        { f32: rate },
        { i32: steps },
      ],
    },
  ],
  reference: ({ a, b }) => {
    for (let step = 0; step < steps; step++) {
      const [from, to] = step % 2 === 0 ? [a, b] : [b, a];
      to.set(heatStep(from, width, rate));
    }
  },
  outputs: { a: 'exact', b: 'exact' },
});
