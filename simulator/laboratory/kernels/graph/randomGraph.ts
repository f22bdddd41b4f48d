import { hash } from '../seededInputs.js';

/** A directed graph in compressed rows: the edges of vertex v are [starts[v], starts[v + 1]). */
export interface Graph {
  readonly starts: Int32Array;
  readonly targets: Int32Array;
}

/** Out-degrees from 0 to 2 · average; a third of the edges stay near their vertex. */
export function randomGraph(vertices: number, average: number, seed: number): Graph {
  const starts = new Int32Array(vertices + 1);
  for (let v = 0; v < vertices; v++) starts[v + 1] = starts[v] + (hash(v, seed) % (2 * average + 1));
  const targets = new Int32Array(starts[vertices]);
  for (let v = 0; v < vertices; v++) {
    for (let e = starts[v]; e < starts[v + 1]; e++) {
      const far = hash(e, seed + 1) % vertices;
      targets[e] = e % 3 === 0 ? (v + 1 + (far % 5)) % vertices : far;
    }
  }
  return { starts, targets };
}

/** Source of each edge. */
export function sourcesOf({ starts, targets }: Graph): Int32Array {
  const sources = new Int32Array(targets.length);
  for (let v = 0; v + 1 < starts.length; v++) sources.fill(v, starts[v], starts[v + 1]);
  return sources;
}
