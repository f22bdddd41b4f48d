import { kernelFixture } from '../kernelFixture.js';
import { integers } from '../seededInputs.js';

const n = 3000;
const [grid, block] = [7, 128];
const launch = {
  kernel: 'lastBlockSum',
  grid,
  block,
  args: [{ buffer: 'x' }, { buffer: 'parts' }, { buffer: 'total' }, { i32: n }],
} as const;

export const lastBlockSum = kernelFixture({
  ptx: new URL('./lastBlockSum.ptx', import.meta.url),
  buffers: () => ({
    x: integers(n, 17, -1_000_000, 3_000_000),
    parts: new Int32Array(grid),
    total: new BigInt64Array(1),
  }),
  // The counter wraps to 0, so that a second launch finds it as the first did.
  launches: [launch, launch],
  reference: ({ x, parts, total }) => {
    x.forEach((value, i) => (parts[Math.floor(i / block) % grid] += value));
    total[0] = 2n * parts.reduce((sum, part) => sum + BigInt(part), 0n);
  },
  outputs: { parts: 'exact', total: 'exact' },
});
