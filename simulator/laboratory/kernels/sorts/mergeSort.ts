import { kernelFixture } from '../kernelFixture.js';
import { integers } from '../seededInputs.js';

const n = 300;
const widths = [8, 16, 32, 64, 128, 256];

export const mergeSort = kernelFixture({
  ptx: new URL('./mergeSort.ptx', import.meta.url),
  buffers: () => ({
    data: BigInt64Array.from(integers(n, 34, -40, 40), (key, i) => BigInt(key) * 2n ** 40n + BigInt(i % 3)),
    spare: new BigInt64Array(n),
  }),
  launches: [
    { kernel: 'sortRuns', grid: 2, block: 32, args: [{ buffer: 'data' }, { i32: n }] },
    ...widths.map((width, pass) => ({
      kernel: 'mergeRuns',
      grid: 3,
      block: 128,
      args: [
        { buffer: pass % 2 === 0 ? 'data' : 'spare' } as const,
        { buffer: pass % 2 === 0 ? 'spare' : 'data' } as const,
        { i32: n },
        { i32: width },
      ],
    })),
  ],
  reference: ({ data }) => void data.sort(),
  outputs: { data: 'exact' },
});
