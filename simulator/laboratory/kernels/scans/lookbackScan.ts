import { kernelFixture } from '../kernelFixture.js';
import { integers } from '../seededInputs.js';

const n = 1000;
const blocks = Math.ceil(n / 128);

export const lookbackScan = kernelFixture({
  ptx: new URL('./lookbackScan.ptx', import.meta.url),
  buffers: () => ({
    x: integers(n, 26, -100, 1000),
    out: new Int32Array(n),
    states: new BigUint64Array(blocks),
    ticket: new Uint32Array(1),
  }),
  launches: [
    {
      kernel: 'lookbackScan',
      grid: blocks,
      block: 128,
      args: [{ buffer: 'x' }, { buffer: 'out' }, { buffer: 'states' }, { buffer: 'ticket' }, { i32: n }],
    },
  ],
  reference: ({ x, out, states, ticket }) => {
    let running = 0;
    x.forEach((value, i) => {
      running += value;
      out[i] = running;
      states[Math.floor(i / 128)] = (2n << 32n) | BigInt.asUintN(32, BigInt(running));
    });
    ticket[0] = blocks;
  },
  outputs: { out: 'exact', states: 'exact', ticket: 'exact' },
});
