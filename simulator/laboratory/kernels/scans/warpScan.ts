import { kernelFixture } from '../kernelFixture.js';
import { integers } from '../seededInputs.js';

const n = 500;
const block = 192;

export const warpScan = kernelFixture({
  ptx: new URL('./warpScan.ptx', import.meta.url),
  buffers: () => ({ x: integers(n, 23, -1_000_000, 2_000_000), out: new BigInt64Array(n) }),
  launches: [{ kernel: 'warpScan', grid: 3, block, args: [{ buffer: 'x' }, { buffer: 'out' }, { i32: n }] }],
  reference: ({ x, out }) => {
    let running = 0n;
    x.forEach((value, i) => {
      running = (i % block === 0 ? 0n : running) + BigInt(value) * 2n ** 20n;
      out[i] = running;
    });
  },
  outputs: { out: 'exact' },
});
