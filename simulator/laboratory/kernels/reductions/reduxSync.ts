import { kernelFixture } from '../kernelFixture.js';
import { words } from '../seededInputs.js';

const warps = 6;
const n = warps * 32;

export const reduxSync = kernelFixture({
  ptx: new URL('./reduxSync.ptx', import.meta.url),
  buffers: () => ({
    // Each warp fewer random bits, the last ones all with a common bit.
    x: Int32Array.from(words(n, 16), (word, i) => (word >> (i >> 5)) | ((i >> 5) % 2 === 0 ? 0x40 : 0)),
    sums: new Int32Array(warps),
    smallest: new Int32Array(warps),
    largest: new Uint32Array(warps),
    ands: new Uint32Array(warps),
    ors: new Uint32Array(warps),
    xors: new Uint32Array(warps),
    evenSums: new Int32Array(n / 2),
  }),
  launches: [
    {
      kernel: 'reduxSync',
      grid: 3,
      block: 64,
      args: [
        { buffer: 'x' },
        { buffer: 'sums' },
        { buffer: 'smallest' },
        { buffer: 'largest' },
        { buffer: 'ands' },
        { buffer: 'ors' },
        { buffer: 'xors' },
        { buffer: 'evenSums' },
      ],
    },
  ],
  reference: ({ x, sums, smallest, largest, ands, ors, xors, evenSums }) => {
    for (let warp = 0; warp < warps; warp++) {
      const lanes = x.subarray(32 * warp, 32 * warp + 32);
      sums[warp] = lanes.reduce((a, b) => a + b, 0);
      smallest[warp] = Math.min(...lanes);
      largest[warp] = Math.max(...new Uint32Array(lanes));
      ands[warp] = lanes.reduce((a, b) => a & b, -1);
      ors[warp] = lanes.reduce((a, b) => a | b, 0);
      xors[warp] = lanes.reduce((a, b) => a ^ b, 0);
      const even = lanes.reduce((a, b, lane) => a + (lane % 2 === 0 ? b : 0), 0);
      evenSums.fill(even, 16 * warp, 16 * warp + 16);
    }
  },
  outputs: {
    sums: 'exact',
    smallest: 'exact',
    largest: 'exact',
    ands: 'exact',
    ors: 'exact',
    xors: 'exact',
    evenSums: 'exact',
  },
});
