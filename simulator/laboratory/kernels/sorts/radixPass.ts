import { kernelFixture } from '../kernelFixture.js';
import { words } from '../seededInputs.js';

const n = 512;
/** Keys of 16 bits: four passes end in the buffer that they began in. */
const shifts = [0, 4, 8, 12];

export const radixPass = kernelFixture({
  ptx: new URL('./radixPass.ptx', import.meta.url),
  buffers: () => ({
    // The high half is the key's place, which the passes carry along: stability shows in it.
    keys: words(n, 33).map((word, i) => (word & 0x3f3f) | (i << 16)),
    spare: new Uint32Array(n),
  }),
  launches: shifts.map((shift, pass) => ({
    kernel: 'radixPass',
    grid: 2,
    block: 256,
    args: [
      { buffer: pass % 2 === 0 ? 'keys' : 'spare' } as const,
      { buffer: pass % 2 === 0 ? 'spare' : 'keys' } as const,
      { i32: shift },
    ],
  })),
  reference: ({ keys }) => {
    for (let first = 0; first < n; first += 256) {
      keys.subarray(first, first + 256).sort((a, b) => (a & 0xffff) - (b & 0xffff) || a - b);
    }
  },
  outputs: { keys: 'exact' },
});
