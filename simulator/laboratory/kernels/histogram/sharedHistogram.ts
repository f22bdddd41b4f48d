import { kernelFixture } from '../kernelFixture.js';
import { randomBytes } from '../seededInputs.js';

const n = 2500;

export const sharedHistogram = kernelFixture({
  ptx: new URL('./sharedHistogram.ptx', import.meta.url),
  buffers: () => ({
    bytes: randomBytes(n, 122).map((byte) => (byte * byte) >> 8),
    counts: new Uint32Array(256),
  }),
  launches: [
    {
      kernel: 'sharedHistogram',
      grid: 3,
      block: 128,
      args: [{ buffer: 'bytes' }, { buffer: 'counts' }, { i32: n }],
    },
  ],
  reference: ({ bytes, counts }) => bytes.forEach((byte) => counts[byte]++),
  outputs: { counts: 'exact' },
});
