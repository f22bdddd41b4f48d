import { kernelFixture } from '../kernelFixture.js';
import { roundTiesToEven } from '../numerics.js';
import { uniform } from '../seededInputs.js';

const n = 600;
const { fround } = Math;
const gain = fround(1.25);
const bias = fround(-0.5);
const edges = [NaN, Infinity, -Infinity, 0, -0, 0.4, 1.2, 2, 2.8, 204.4, 204.8, 3e9, -3e9, 1e-40];

export const clampImage = kernelFixture({
  ptx: new URL('./clampImage.ptx', import.meta.url),
  buffers: () => {
    const image = uniform(n, 4, -40, 300);
    image.set(edges);
    return {
      image,
      bytes: new Uint8Array(n),
      unit: new Float32Array(n),
      shorts: new Int16Array(n),
    };
  },
  launches: [
    {
      kernel: 'clampImage',
      grid: 5,
      block: 128,
      args: [
        { buffer: 'image' },
        { buffer: 'bytes' },
        { buffer: 'unit' },
        { buffer: 'shorts' },
        { i32: n },
        { f32: gain },
        { f32: bias },
      ],
    },
  ],
  reference: ({ image, bytes, unit, shorts }) =>
    image.forEach((value, i) => {
      const v = fround(fround(value * gain) + bias);
      // fmaxf and fminf return the other operand beside a NaN, saturation makes 0 of it, conversion to an integer too.
      const clamped = Number.isNaN(v) ? 0 : Math.min(Math.max(v, 0), 255);
      bytes[i] = roundTiesToEven(clamped);
      unit[i] = Number.isNaN(v) ? 0 : Math.min(Math.max(v, 0), 1);
      const thousands = fround(v * 1000);
      shorts[i] = Number.isNaN(v) ? 0 : Math.max(-32768, Math.min(32767, Math.trunc(thousands)));
    }),
  outputs: { bytes: 'exact', unit: 'exact', shorts: 'exact' },
});
