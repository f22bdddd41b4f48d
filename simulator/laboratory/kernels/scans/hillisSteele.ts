import { kernelFixture } from '../kernelFixture.js';
import { uniform } from '../seededInputs.js';

const n = 350;
const block = 100;
const grid = 4;

export const hillisSteele = kernelFixture({
  ptx: new URL('./hillisSteele.ptx', import.meta.url),
  buffers: () => ({ x: uniform(n, 21, 0, 10), out: new Float32Array(n) }),
  launches: [
    {
      kernel: 'hillisSteele',
      grid,
      block,
      dynamicSharedBytes: 8 * block,
      args: [{ buffer: 'x' }, { buffer: 'out' }, { i32: n }],
    },
  ],
  reference: ({ x, out }) => {
    for (let first = 0; first < n; first += block) {
      let now = x.slice(first, first + block);
      for (let offset = 1; offset < block; offset *= 2) {
        now = now.map((value, t) => (t >= offset ? value + now[t - offset] : value));
      }
      out.set(now, first);
    }
  },
  outputs: { out: 'exact' },
});
