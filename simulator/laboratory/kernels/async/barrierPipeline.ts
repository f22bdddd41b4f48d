import { kernelFixture } from '../kernelFixture.js';
import { integers } from '../seededInputs.js';

const tile = 96;
const tiles = 5;
const rounds = 9;
const ringRounds = 11;

export const barrierPipeline = kernelFixture({
  ptx: new URL('./barrierPipeline.ptx', import.meta.url),
  buffers: () => ({
    x: integers(4 * tile * tiles, 301, -1000, 1000),
    shifted: new Int32Array(4 * tile * tiles),
    staged: new Int32Array(2 * 128),
    taken: new Int32Array(64),
  }),
  launches: [
    {
      kernel: 'shiftTiles',
      grid: 2,
      block: tile,
      dynamicSharedBytes: 16 * tile,
      args: [{ buffer: 'x' }, { buffer: 'shifted' }, { i32: tile * tiles }],
    },
    {
      kernel: 'twoStages',
      grid: 2,
      block: 128,
      args: [{ buffer: 'x' }, { buffer: 'staged' }, { i32: rounds }],
    },
    { kernel: 'ring', grid: 1, block: 96, args: [{ buffer: 'x' }, { buffer: 'taken' }, { i32: ringRounds }] },
  ],
  reference: ({ x, shifted, staged, taken }) => {
    for (let at = 0; at < shifted.length; at++) {
      const word = at >> 2;
      const from = 4 * (word - (word % tile) + ((word + 1) % tile)) + (at & 3);
      shifted[at] = [x[from] * 2, x[from] * 3, x[from], x[from] + 1][at & 3];
    }
    for (let at = 0; at < staged.length; at++)
      for (let round = 0; round < rounds; round++)
        staged[at] = Math.imul(staged[at], 5) + x[round * 128 + 127 - (at % 128)];
    for (let at = 0; at < taken.length; at++)
      for (let round = 0; round < ringRounds; round++)
        taken[at] =
          Math.imul(taken[at], 3) + x[round * 32 + (((at % 32) + Math.floor(at / 32) + 1) % 32)] * 7;
  },
  outputs: { shifted: 'exact', staged: 'exact', taken: 'exact' },
});
