import { kernelFixture } from '../kernelFixture.js';
import { hash, words } from '../seededInputs.js';

const [n, slots] = [400, 256];

export const hashTable64 = kernelFixture({
  ptx: new URL('./hashTable64.ptx', import.meta.url),
  buffers: () => ({
    keys: Uint32Array.from({ length: n }, (_, i) => 1 + Math.imul(hash(i, 133) % 180, 0x01000193)),
    values: words(n, 134),
    table: new BigUint64Array(slots),
    out: new BigUint64Array(slots),
    count: new Uint32Array(1),
  }),
  launches: [
    {
      kernel: 'keepSmallest',
      grid: 4,
      block: 128,
      args: [{ buffer: 'keys' }, { buffer: 'values' }, { buffer: 'table' }, { u32: slots - 1 }, { i32: n }],
    },
    {
      kernel: 'exportTable',
      grid: 2,
      block: 128,
      args: [{ buffer: 'table' }, { buffer: 'out' }, { buffer: 'count' }, { u32: slots }],
    },
  ],
  reference: ({ keys, values, out, count }) => {
    const smallest = new Map<number, number>();
    keys.forEach((key, i) => smallest.set(key, Math.min(values[i], smallest.get(key) ?? Infinity)));
    out.set([...smallest].map(([key, value]) => (BigInt(key) << 32n) | BigInt(value)));
    count[0] = smallest.size;
  },
  settle: ({ out }) => void out.sort(),
  outputs: { out: 'exact', count: 'exact' },
});
