import { kernelFixture } from '../kernelFixture.js';
import { words } from '../seededInputs.js';

const [blocks, size, row, rounds] = [8, 4, 64, 5];

function cluster(values: Uint32Array): void {
  const at = (rank: number, thread: number): number => rank * row + (thread % row);
  const before = (rank: number): number => (rank + size - 1) % size;
  for (let round = 0; round < rounds; round++) {
    const sent = values.map((value, index) => value + Math.floor(index / row));
    values.forEach((value, index) => {
      const rank = Math.floor(index / row);
      values[index] = Math.imul(value, 5) + sent[at(before(rank), (index % row) + 3)];
    });
    const rows = values.slice();
    values.forEach((value, index) => {
      const rank = Math.floor(index / row);
      values[index] = value ^ rows[at(before(rank), (index % row) + 7)];
    });
  }
}

export const clusterMailbox = kernelFixture({
  ptx: new URL('./clusterMailbox.ptx', import.meta.url),
  buffers: () => ({ input: words(blocks * row, 505), out: new Uint32Array(blocks * row) }),
  launches: [
    {
      kernel: 'clusterMailbox',
      grid: blocks,
      block: row,
      args: [{ buffer: 'out' }, { buffer: 'input' }, { i32: rounds }],
    },
  ],
  reference: ({ input, out }) => {
    out.set(input);
    for (let first = 0; first < out.length; first += size * row)
      cluster(out.subarray(first, first + size * row));
  },
  outputs: { out: 'exact' },
});
