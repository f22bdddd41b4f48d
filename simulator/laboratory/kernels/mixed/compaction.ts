import { kernelFixture } from '../kernelFixture.js';
import { integers } from '../seededInputs.js';

const n = 500;
const [grid, block] = [5, 128];

export const compaction = kernelFixture({
  ptx: new URL('./compaction.ptx', import.meta.url),
  buffers: () => ({
    values: integers(n, 187, -30, 400),
    any: new Int32Array(n),
    cursor: new Int32Array(1),
    counts: new Int32Array(grid),
    ordered: new Int32Array(n),
  }),
  launches: [
    {
      kernel: 'compactAny',
      grid,
      block,
      args: [{ buffer: 'values' }, { buffer: 'any' }, { buffer: 'cursor' }, { i32: n }],
    },
    { kernel: 'countBlocks', grid, block, args: [{ buffer: 'values' }, { buffer: 'counts' }, { i32: n }] },
    {
      kernel: 'compactOrdered',
      grid,
      block,
      args: [{ buffer: 'values' }, { buffer: 'counts' }, { buffer: 'ordered' }, { i32: n }],
    },
  ],
  reference: ({ values, any, cursor, counts, ordered }) => {
    const kept = values.filter((value) => value % 3 === 0);
    any.set(kept);
    ordered.set(kept);
    cursor[0] = kept.length;
    for (let b = 0; b < grid; b++) {
      const mine = values.subarray(b * block, (b + 1) * block);
      const [some, all] = [mine.includes(0), mine.every((value) => value >= 0)];
      counts[b] = mine.filter((value) => value % 3 === 0).length | (Number(some) << 16) | (Number(all) << 17);
    }
  },
  settle: ({ any, cursor }) => void any.subarray(0, cursor[0]).sort(),
  outputs: { any: 'exact', cursor: 'exact', counts: 'exact', ordered: 'exact' },
});
