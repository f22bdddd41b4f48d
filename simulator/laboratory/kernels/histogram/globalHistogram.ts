import { kernelFixture } from '../kernelFixture.js';
import { words } from '../seededInputs.js';

const n = 500;

export const globalHistogram = kernelFixture({
  ptx: new URL('./globalHistogram.ptx', import.meta.url),
  buffers: () => ({
    words: words(n, 121),
    counts: new Uint32Array(64),
    places: new BigUint64Array(64),
  }),
  launches: [
    {
      kernel: 'globalHistogram',
      grid: 2,
      block: 96,
      args: [{ buffer: 'words' }, { buffer: 'counts' }, { buffer: 'places' }, { i32: n }],
    },
  ],
  reference: ({ words: input, counts, places }) =>
    input.forEach((word, i) => {
      for (let b = 0; b < 4; b++) {
        const bin = (word >>> (8 * b)) & 63;
        counts[bin]++;
        places[bin] = (BigInt(i) << 8n) | BigInt(b);
      }
    }),
  outputs: { counts: 'exact', places: 'exact' },
});
