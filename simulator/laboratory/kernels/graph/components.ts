import { kernelFixture } from '../kernelFixture.js';
import { hash } from '../seededInputs.js';

const [vertices, edgeCount] = [400, 330];

export const components = kernelFixture({
  ptx: new URL('./components.ptx', import.meta.url),
  buffers: () => ({
    edges: Int32Array.from({ length: 2 * edgeCount }, (_, i) => hash(i, 93) % vertices),
    parent: Int32Array.from({ length: vertices }, (_, v) => v),
    changed: new Int32Array(1),
    smallest: new Int32Array(vertices).fill(0x7fffffff),
    roots: new Int32Array(1),
  }),
  launches: [
    {
      kernel: 'hook',
      grid: 6,
      block: 64,
      args: [{ buffer: 'edges' }, { buffer: 'parent' }, { buffer: 'changed' }, { i32: edgeCount }],
    },
    {
      kernel: 'shorten',
      grid: 7,
      block: 64,
      args: [{ buffer: 'parent' }, { buffer: 'smallest' }, { i32: vertices }],
    },
    {
      kernel: 'countRoots',
      grid: 7,
      block: 64,
      args: [{ buffer: 'parent' }, { buffer: 'roots' }, { i32: vertices }],
    },
  ],
  reference: ({ edges, parent, changed, smallest, roots }) => {
    changed[0] = 1;
    // Flood each component from its smallest vertex, which ends as its root.
    const neighbours = Array.from({ length: vertices }, (): number[] => []);
    for (let e = 0; e < edgeCount; e++) {
      neighbours[edges[2 * e]].push(edges[2 * e + 1]);
      neighbours[edges[2 * e + 1]].push(edges[2 * e]);
    }
    const seen = new Set<number>();
    for (let v = 0; v < vertices; v++) {
      if (seen.has(v)) continue;
      roots[0]++;
      smallest[v] = v;
      const queue = [v];
      seen.add(v);
      for (const at of queue) {
        parent[at] = v;
        for (const next of neighbours[at]) {
          if (!seen.has(next)) queue.push(next);
          seen.add(next);
        }
      }
    }
  },
  outputs: { parent: 'exact', smallest: 'exact', changed: 'exact', roots: 'exact' },
});
