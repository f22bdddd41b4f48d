import { kernelFixture } from '../kernelFixture.js';
import { uniform } from '../seededInputs.js';

const n = 100;
const { fround } = Math;
const dims = [4, 3, 5] as const;
const strides = [
  [1, 4, 12],
  [15, 5, 1],
] as const;
const offsets = [-7, 300, 0, -32768, 12];
const bias = [0.5, -1.25, 2, 0.125];
const scale = 1 / 3;
const tiny = [3, -2, 7];
const halfWords = (low: number, high: number): number => ((low & 0xffff) | (high << 16)) >>> 0;
const tensor = (buffer: 'a' | 'b', order: readonly number[]) => ({
  struct: [{ buffer }, ...[...dims, ...order].map((i32) => ({ i32 }))],
});

export const structParameters = kernelFixture({
  ptx: new URL('./structParameters.ptx', import.meta.url),
  buffers: () => ({ a: uniform(60, 192), b: uniform(75, 193), out: new Float32Array(n) }),
  launches: [
    {
      kernel: 'structParameters',
      grid: 2,
      block: 64,
      args: [
        {
          struct: [
            { f64: scale },
            // A char, a byte of padding and five shorts.
            { u32: halfWords('d'.charCodeAt(0), offsets[0]) },
            { u32: halfWords(offsets[1], offsets[2]) },
            { u32: halfWords(offsets[3], offsets[4]) },
            tensor('a', strides[0]),
            tensor('b', strides[1]),
            // float4 lies at a multiple of 16, and the structure's size is one.
            { align16: bias.map((f32) => ({ f32 })) },
          ],
        },
        { bytes: tiny },
        { buffer: 'out' },
        { i32: n },
      ],
    },
  ],
  reference: ({ a, b, out }) =>
    out.forEach((_, i) => {
      const [x, y, z] = [i % 4, Math.floor(i / 4) % 3, Math.floor(i / 12) % 5];
      const order = strides[i & 1];
      const value = (i % 2 === 0 ? a : b)[x * order[0] + y * order[1] + z * order[2]];
      const scaled = fround(fround(value + bias[i & 3]) * scale);
      out[i] = scaled + offsets[i % 5] + tiny[0] * 100 + tiny[1] * 10 + tiny[2];
    }),
  outputs: { out: 'exact' },
});
