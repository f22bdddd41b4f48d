import { kernelFixture } from '../kernelFixture.js';
import { fma32 } from '../numerics.js';
import { randomGraph, sourcesOf } from './randomGraph.js';

const vertices = 200;
const graph = randomGraph(vertices, 4, 92);
const { fround } = Math;
const damping = fround(0.85);
const base = fround(0.15 / vertices);
const rounds = 3;

/** The same edges by target. */
function reversed(): { readonly starts: Int32Array; readonly sources: Int32Array } {
  const from = sourcesOf(graph);
  const order = Array.from(from.keys()).sort((a, b) => graph.targets[a] - graph.targets[b] || a - b);
  const starts = new Int32Array(vertices + 1);
  for (const target of graph.targets) starts[target + 1]++;
  for (let v = 0; v < vertices; v++) starts[v + 1] += starts[v];
  return { starts, sources: Int32Array.from(order, (edge) => from[edge]) };
}
const incoming = reversed();

export const pageRank = kernelFixture({
  ptx: new URL('./pageRank.ptx', import.meta.url),
  buffers: () => ({
    starts: graph.starts.slice(),
    targets: graph.targets.slice(),
    inStarts: incoming.starts.slice(),
    inSources: incoming.sources.slice(),
    rank: new Float32Array(vertices).fill(1 / vertices),
    share: new Float32Array(vertices),
    pushed: new Float32Array(vertices),
  }),
  launches: Array.from({ length: rounds }, () => [
    {
      kernel: 'spread',
      grid: 4,
      block: 64,
      args: [
        { buffer: 'starts' },
        { buffer: 'rank' },
        { buffer: 'share' },
        { buffer: 'pushed' },
        { f32: base },
        { i32: vertices },
      ],
    } as const,
    {
      kernel: 'push',
      grid: 4,
      block: 64,
      args: [
        { buffer: 'starts' },
        { buffer: 'targets' },
        { buffer: 'share' },
        { buffer: 'pushed' },
        { f32: damping },
        { i32: vertices },
      ],
    } as const,
    {
      kernel: 'pull',
      grid: 4,
      block: 64,
      args: [
        { buffer: 'inStarts' },
        { buffer: 'inSources' },
        { buffer: 'share' },
        { buffer: 'rank' },
        { f32: base },
        { f32: damping },
        { i32: vertices },
      ],
    } as const,
  ]).flat(),
  reference: ({ rank, share, pushed }) => {
    for (let round = 0; round < rounds; round++) {
      for (let v = 0; v < vertices; v++) {
        const degree = graph.starts[v + 1] - graph.starts[v];
        share[v] = degree > 0 ? rank[v] / degree : 0;
      }
      for (let v = 0; v < vertices; v++) {
        let sum = 0;
        for (const source of incoming.sources.subarray(incoming.starts[v], incoming.starts[v + 1])) {
          sum = fround(sum + share[source]);
        }
        rank[v] = fma32(damping, sum, base);
      }
    }
    pushed.set(rank);
  },
  // The order of a card's float atomics is open.
  outputs: { rank: 'exact', share: 'exact', pushed: { relative: 2e-6, anyOrder: true } },
});
