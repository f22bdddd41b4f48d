import { kernelFixture } from '../kernelFixture.js';
import { uniform } from '../seededInputs.js';

const [positions, pairs, start, base] = [9, 24, 200_000, 10_000];

export const rotary = kernelFixture({
  ptx: new URL('./rotary.ptx', import.meta.url),
  buffers: () => ({
    x: uniform(2 * positions * pairs, 78),
    frequencies: Float32Array.from({ length: pairs }, (_, p) => base ** (-p / pairs)),
    powers: new Float32Array(pairs),
  }),
  launches: [
    {
      kernel: 'rotary',
      grid: positions,
      block: 32,
      args: [
        { buffer: 'x' },
        { buffer: 'frequencies' },
        { buffer: 'powers' },
        { i32: pairs },
        { i32: start },
        { f32: base },
      ],
    },
  ],
  reference: ({ x, frequencies, powers }) => {
    for (let at = 0; at < positions * pairs; at++) {
      const position = start + Math.floor(at / pairs) * 37;
      const angle = Math.fround(position * frequencies[at % pairs]);
      const [s, c, a, b] = [Math.sin(angle), Math.cos(angle), x[2 * at], x[2 * at + 1]];
      x[2 * at] = a * c - b * s;
      x[2 * at + 1] = a * s + b * c;
    }
    powers.set(frequencies);
  },
  outputs: { x: { absolute: 5e-7 }, powers: { relative: 1.5e-6 } },
});
