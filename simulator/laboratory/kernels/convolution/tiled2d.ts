import { kernelFixture } from '../kernelFixture.js';
import { randomBytes } from '../seededInputs.js';

const [width, height] = [29, 19];
const row = [1, 4, 6, 4, 1];
const clamp = (value: number, most: number): number => Math.min(Math.max(value, 0), most);
const weight = (dx: number, dy: number): number => (dx === 0 && dy === 0 ? -220 : row[dx + 2] * row[dy + 2]);

export const tiled2d = kernelFixture({
  ptx: new URL('./tiled2d.ptx', import.meta.url),
  buffers: () => ({
    image: randomBytes(4 * width * height, 62),
    out: new Uint8Array(4 * width * height),
  }),
  launches: [
    {
      kernel: 'tiled2d',
      grid: [2, 3],
      block: [16, 8],
      args: [{ buffer: 'image' }, { buffer: 'out' }, { i32: width }, { i32: height }],
    },
  ],
  reference: ({ image, out }) => {
    const at = (x: number, y: number): number => 4 * (clamp(y, height - 1) * width + clamp(x, width - 1));
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        for (let channel = 0; channel < 3; channel++) {
          let sum = 0;
          for (let dy = -2; dy <= 2; dy++) {
            for (let dx = -2; dx <= 2; dx++) sum += weight(dx, dy) * image[at(x + dx, y + dy) + channel];
          }
          out[at(x, y) + channel] = clamp(sum >> 4, 255);
        }
        out[at(x, y) + 3] = image[at(x, y) + 3];
      }
    }
  },
  outputs: { out: 'exact' },
});
