import { kernelFixture } from '../kernelFixture.js';
import { integers, uniform } from '../seededInputs.js';

const rounds = 3;
const tiles = 10;

export const bulkCopies = kernelFixture({
  ptx: new URL('./bulkCopies.ptx', import.meta.url),
  buffers: () => ({
    rows: uniform(2 * rounds * 1024, 311, -8, 8),
    scaled: new Float32Array(2 * rounds * 1024),
    x: integers(2 * tiles * 256, 312, -500, 500),
    staged: new Int32Array(2 * 64),
    sums: integers(256, 313, 0, 9),
    most: integers(256, 314, 0, 9),
    words: new Int32Array(64),
  }),
  launches: [
    {
      kernel: 'scaleRows',
      grid: 2,
      block: 160,
      args: [{ buffer: 'rows' }, { buffer: 'scaled' }, { i32: rounds }],
    },
    {
      kernel: 'stagedSum',
      grid: 2,
      block: 96,
      args: [{ buffer: 'x' }, { buffer: 'staged' }, { i32: tiles }],
    },
    {
      kernel: 'addBlocks',
      grid: 7,
      block: 256,
      args: [{ buffer: 'x' }, { buffer: 'sums' }, { buffer: 'most' }],
    },
    { kernel: 'toldWords', grid: 1, block: 64, args: [{ buffer: 'x' }, { buffer: 'words' }] },
  ],
  reference: ({ rows, scaled, x, staged, sums, most, words }) => {
    rows.forEach((value, at) => (scaled[at] = value * 2 + 1));
    for (let at = 0; at < staged.length; at++)
      for (let from = at % 64; from < tiles * 256; from += 64)
        staged[at] = Math.imul(staged[at], 31) + x[Math.floor(at / 64) * tiles * 256 + from];
    for (let at = 0; at < 7 * 256; at++) {
      sums[at % 256] += x[at];
      most[at % 256] = Math.max(most[at % 256], x[at]);
    }
    const total = x.subarray(0, 64).reduce((sum, value) => sum + value, 0);
    for (let at = 0; at < 64; at++) words[at] = (x[63 - at] + 1) * 2 + total;
  },
  outputs: { scaled: 'exact', staged: 'exact', sums: 'exact', most: 'exact', words: 'exact' },
  isUnasked: true,
});
