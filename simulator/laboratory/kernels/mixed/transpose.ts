import { kernelFixture } from '../kernelFixture.js';
import { randomBytes, uniformDoubles, words } from '../seededInputs.js';

const [width, height] = [45, 20];
const count = width * height;
const kinds = ['Bytes', 'Words', 'Vectors'] as const;

export const transpose = kernelFixture({
  ptx: new URL('./transpose.ptx', import.meta.url),
  buffers: () => ({
    inBytes: randomBytes(count, 184),
    outBytes: new Uint8Array(count),
    inWords: uniformDoubles(count, 185),
    outWords: new Float64Array(count),
    inVectors: words(4 * count, 186),
    outVectors: new Uint32Array(4 * count),
  }),
  launches: kinds.map((kind) => ({
    kernel: `transpose${kind}`,
    grid: [2, 1] as const,
    block: [32, 8] as const,
    args: [
      { buffer: `in${kind}` as const },
      { buffer: `out${kind}` as const },
      { i32: width },
      { i32: height },
    ],
  })),
  reference: ({ inBytes, outBytes, inWords, outWords, inVectors, outVectors }) => {
    for (let from = 0; from < count; from++) {
      const to = (from % width) * height + Math.floor(from / width);
      outBytes[to] = inBytes[from];
      outWords[to] = inWords[from];
      outVectors.set(inVectors.subarray(4 * from, 4 * from + 4), 4 * to);
    }
  },
  outputs: { outBytes: 'exact', outWords: 'exact', outVectors: 'exact' },
});
