import { kernelFixture } from '../kernelFixture.js';
import { uniform } from '../seededInputs.js';

const [size, batches] = [256, 2];

export const fft = kernelFixture({
  ptx: new URL('./fft.ptx', import.meta.url),
  buffers: () => ({
    fast: uniform(2 * size * batches, 183),
    precise: uniform(2 * size * batches, 183),
  }),
  launches: [
    { kernel: 'fftFast', grid: batches, block: 128, args: [{ buffer: 'fast' }] },
    { kernel: 'fftPrecise', grid: batches, block: 128, args: [{ buffer: 'precise' }] },
  ],
  reference: ({ fast, precise }) => {
    for (let first = 0; first < 2 * size * batches; first += 2 * size) {
      const input = fast.slice(first, first + 2 * size);
      for (let k = 0; k < size; k++) {
        let [re, im] = [0, 0];
        for (let j = 0; j < size; j++) {
          const angle = (-2 * Math.PI * ((k * j) % size)) / size;
          const [c, s] = [Math.cos(angle), Math.sin(angle)];
          re += input[2 * j] * c - input[2 * j + 1] * s;
          im += input[2 * j] * s + input[2 * j + 1] * c;
        }
        precise.set([re, im], first + 2 * k);
      }
    }
    fast.set(precise);
  },
  outputs: { fast: { absolute: 5e-5 }, precise: { absolute: 1e-5 } },
});
