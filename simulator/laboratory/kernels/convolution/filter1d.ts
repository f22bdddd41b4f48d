import { kernelFixture } from '../kernelFixture.js';
import { fma32 } from '../numerics.js';
import { uniform } from '../seededInputs.js';

const n = 333;
const block = 96;
const half = [0.5, 0.25, 0.125, -0.0625, 0.015625];

export const filter1d = kernelFixture({
  ptx: new URL('./filter1d.ptx', import.meta.url),
  buffers: () => ({ x: uniform(n, 61, -8, 8), out: new Float32Array(n) }),
  launches: [
    {
      kernel: 'filter1d',
      grid: 4,
      block,
      dynamicSharedBytes: 4 * (block + 8),
      args: [{ buffer: 'x' }, { buffer: 'out' }, { i32: n }],
    },
  ],
  reference: ({ x, out }) =>
    out.forEach((_, i) => {
      for (let k = -4; k <= 4; k++) out[i] = fma32(half[Math.abs(k)], x[i + k] ?? 0, out[i]);
    }),
  outputs: { out: 'exact' },
});
