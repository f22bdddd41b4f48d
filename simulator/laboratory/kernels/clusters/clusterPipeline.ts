import { kernelFixture } from '../kernelFixture.js';
import { words } from '../seededInputs.js';

const [blocks, size, threads, rounds] = [6, 3, 64, 9];

function cluster(values: Uint32Array): void {
  const at = (rank: number, thread: number): number => rank * threads + thread;
  const counts = new Uint32Array(size);
  const before = (rank: number): number => (rank + size - 1) % size;
  for (let round = 0; round < rounds; round++) {
    const sent = values.map((value, index) => Math.imul(value, 3) + Math.floor(index / threads));
    values.forEach((value, index) => {
      if ((index % threads) % 7 === 0) counts[(Math.floor(index / threads) + 1) % size] += value & 15;
    });
    values.forEach((value, index) => {
      const [rank, thread] = [Math.floor(index / threads), index % threads];
      values[index] = (value ^ (value >>> 7)) + sent[at(before(rank), (thread + 5) % threads)];
    });
  }
  values.forEach((value, index) => {
    const next = (Math.floor(index / threads) + 1) % size;
    values[index] = Math.imul(value, 31) + counts[next] + next * 7;
  });
}

export const clusterPipeline = kernelFixture({
  ptx: new URL('./clusterPipeline.ptx', import.meta.url),
  buffers: () => ({
    input: words(blocks * threads, 504),
    out: new Uint32Array(blocks * threads),
  }),
  launches: [
    {
      kernel: 'clusterPipeline',
      grid: blocks,
      block: threads,
      cluster: size,
      args: [{ buffer: 'out' }, { buffer: 'input' }, { i32: rounds }],
    },
  ],
  reference: ({ input, out }) => {
    out.set(input);
    for (let first = 0; first < out.length; first += size * threads)
      cluster(out.subarray(first, first + size * threads));
  },
  outputs: { out: 'exact' },
});
