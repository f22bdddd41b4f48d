import { kernelFixture } from '../kernelFixture.js';
import { words } from '../seededInputs.js';

const n = 512;

export const bitonicSort = kernelFixture({
  ptx: new URL('./bitonicSort.ptx', import.meta.url),
  buffers: () => ({ keys: words(n, 31), values: Uint32Array.from({ length: n }, (_, i) => i) }),
  launches: [
    { kernel: 'bitonicSort', grid: 2, block: 128, args: [{ buffer: 'keys' }, { buffer: 'values' }] },
  ],
  reference: ({ keys, values }) => {
    // Keys are distinct (the hash is one to one), so that the order is the only one.
    for (let first = 0; first < n; first += 256) {
      const order = values.slice(first, first + 256).sort((a, b) => keys[a] - keys[b]);
      values.set(order, first);
      keys.subarray(first, first + 256).sort();
    }
  },
  outputs: { keys: 'exact', values: 'exact' },
});
