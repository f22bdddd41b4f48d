import { kernelFixture } from '../kernelFixture.js';
import { integers } from '../seededInputs.js';

const n = 700;
const blocks = 3;

export const blellochScan = kernelFixture({
  ptx: new URL('./blellochScan.ptx', import.meta.url),
  buffers: () => ({
    x: integers(n, 22, -50, 1000),
    out: new Int32Array(n),
    sums: new Int32Array(blocks),
  }),
  launches: [
    {
      kernel: 'blellochScan',
      grid: blocks,
      block: 128,
      args: [{ buffer: 'x' }, { buffer: 'out' }, { buffer: 'sums' }, { i32: n }],
    },
    { kernel: 'scanSums', grid: 1, block: 1, args: [{ buffer: 'sums' }, { i32: blocks }] },
    {
      kernel: 'addSums',
      grid: blocks,
      block: 256,
      args: [{ buffer: 'out' }, { buffer: 'sums' }, { i32: n }],
    },
  ],
  reference: ({ x, out, sums }) => {
    let running = 0;
    x.forEach((value, i) => {
      if (i % 256 === 0) sums[i / 256] = running;
      out[i] = running;
      running += value;
    });
  },
  outputs: { out: 'exact', sums: 'exact' },
});
