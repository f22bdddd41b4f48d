import { kernelFixture } from '../kernelFixture.js';
import { integers } from '../seededInputs.js';

const [n, slots] = [300, 256];

export const hashTable32 = kernelFixture({
  ptx: new URL('./hashTable32.ptx', import.meta.url),
  buffers: () => ({
    keys: Uint32Array.from(integers(n, 131, 0, 230), (key) => key * 7919),
    table: new Uint32Array(slots).fill(0xffffffff),
    counts: new Uint32Array(slots),
    queries: Uint32Array.from(integers(n, 132, 0, 400), (key) => key * 7919),
    found: new Uint32Array(n),
  }),
  launches: [
    {
      kernel: 'insertKeys',
      grid: 5,
      block: 64,
      args: [{ buffer: 'keys' }, { buffer: 'table' }, { buffer: 'counts' }, { u32: slots - 1 }, { i32: n }],
    },
    {
      kernel: 'lookUp',
      grid: 5,
      block: 64,
      args: [
        { buffer: 'queries' },
        { buffer: 'table' },
        { buffer: 'counts' },
        { buffer: 'found' },
        { u32: slots - 1 },
        { i32: n },
      ],
    },
  ],
  reference: ({ keys, table, counts, queries, found }) => {
    const times = new Map<number, number>();
    for (const key of keys) times.set(key, (times.get(key) ?? 0) + 1);
    [...times].forEach(([key, count], slot) => {
      table[slot] = key;
      counts[slot] = count;
    });
    queries.forEach((query, i) => (found[i] = times.get(query) ?? 0));
  },
  // Which slot a key gets depends on who came first.
  settle: ({ table, counts }) => {
    const order = Array.from(table.keys()).sort((a, b) => table[a] - table[b]);
    const [sortedKeys, sortedCounts] = [order.map((slot) => table[slot]), order.map((slot) => counts[slot])];
    table.set(sortedKeys);
    counts.set(sortedCounts);
  },
  outputs: { found: 'exact', table: 'exact', counts: 'exact' },
});
