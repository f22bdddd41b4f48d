import { kernelFixture } from '../kernelFixture.js';
import { randomBytes, words } from '../seededInputs.js';

const [width, height, stride] = [37, 21, 3];
const [pitchIn, pitchOut] = [128, 96];

export const pitchedRows = kernelFixture({
  ptx: new URL('./pitchedRows.ptx', import.meta.url),
  buffers: () => ({
    image: randomBytes(pitchIn * height, 5),
    out: new Uint16Array((pitchOut / 2) * height),
    table: Uint16Array.from(words(256, 6)),
  }),
  launches: [
    {
      kernel: 'pitchedRows',
      grid: [2, 2],
      block: [16, 4],
      args: [
        { buffer: 'image' },
        { u64: BigInt(pitchIn) },
        { buffer: 'out' },
        { u64: BigInt(pitchOut) },
        { buffer: 'table' },
        { i32: width },
        { i32: height },
        { i32: stride },
      ],
    },
  ],
  reference: ({ image, out, table }) => {
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const at = (height - 1 - y) * (pitchOut / 2) + width - 1 - x;
        out[at] = table[image[y * pitchIn + x * stride]] + (x ^ y);
      }
    }
  },
  outputs: { out: 'exact' },
});
