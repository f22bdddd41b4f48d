import { kernelFixture } from '../kernelFixture.js';
import { uniform } from '../seededInputs.js';
import { randomGraph, sourcesOf } from './randomGraph.js';

const vertices = 150;
const graph = randomGraph(vertices, 3, 94);
const edges = graph.targets.length;
const rounds = 14;

export const bellmanFord = kernelFixture({
  ptx: new URL('./bellmanFord.ptx', import.meta.url),
  buffers: () => ({
    sources: sourcesOf(graph),
    targets: graph.targets.slice(),
    weights: uniform(edges, 95, 0.5, 20),
    distances: new Float32Array(vertices).fill(Infinity).fill(0, 0, 1),
    next: new Float32Array(vertices).fill(Infinity).fill(0, 0, 1),
    improved: new Int32Array(1),
    rounds: new Int32Array(1),
  }),
  launches: Array.from({ length: rounds }, () => [
    {
      kernel: 'relax',
      grid: Math.ceil(edges / 64),
      block: 64,
      args: [
        { buffer: 'sources' },
        { buffer: 'targets' },
        { buffer: 'weights' },
        { buffer: 'distances' },
        { buffer: 'next' },
        { buffer: 'improved' },
        { i32: edges },
      ],
    } as const,
    {
      kernel: 'settleRound',
      grid: 3,
      block: 64,
      args: [
        { buffer: 'distances' },
        { buffer: 'next' },
        { buffer: 'rounds' },
        { buffer: 'improved' },
        { i32: vertices },
      ],
    } as const,
  ]).flat(),
  reference: ({ sources, targets, weights, distances, next, rounds: changing }) => {
    for (let round = 0; round < rounds; round++) {
      let isBetter = false;
      for (let e = 0; e < edges; e++) {
        const through = Math.fround(distances[sources[e]] + weights[e]);
        if (!(through < next[targets[e]])) continue;
        next[targets[e]] = through;
        isBetter = true;
      }
      distances.set(next);
      if (isBetter) changing[0]++;
    }
  },
  outputs: { distances: 'exact', next: 'exact', rounds: 'exact', improved: 'exact' },
});
