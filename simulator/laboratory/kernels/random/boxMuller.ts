import { kernelFixture } from '../kernelFixture.js';
import { words } from '../seededInputs.js';

const n = 200;

export const boxMuller = kernelFixture({
  ptx: new URL('./boxMuller.ptx', import.meta.url),
  buffers: () => ({
    words: words(2 * n, 141),
    fast: new Float32Array(2 * n),
    precise: new Float32Array(2 * n),
    doubles: new Float64Array(n),
  }),
  launches: [
    {
      kernel: 'boxMuller',
      grid: 2,
      block: 128,
      args: [
        { buffer: 'words' },
        { buffer: 'fast' },
        { buffer: 'precise' },
        { buffer: 'doubles' },
        { i32: n },
      ],
    },
  ],
  reference: ({ words: bits, fast, precise, doubles }) => {
    for (let i = 0; i < n; i++) {
      const [u, v] = [((bits[2 * i] >>> 8) + 1) / 2 ** 24, (bits[2 * i + 1] >>> 8) / 2 ** 24];
      const radius = Math.sqrt(-2 * Math.log(u));
      doubles[i] = radius * Math.cos(2 * Math.PI * v);
      precise.set([doubles[i], radius * Math.sin(2 * Math.PI * v)], 2 * i);
    }
    fast.set(precise);
  },
  // The approximate logarithm is off by 2^-21 near 1, of which the root is taken.
  outputs: { fast: { absolute: 2e-3 }, precise: { absolute: 2e-6 }, doubles: { absolute: 1e-14 } },
});
