import { kernelFixture } from '../kernelFixture.js';
import { randomGraph } from './randomGraph.js';

const vertices = 300;
const graph = randomGraph(vertices, 1, 91);
const depth = 12;

export const bfsFrontier = kernelFixture({
  ptx: new URL('./bfsFrontier.ptx', import.meta.url),
  buffers: (): Record<string, Int32Array> => {
    const levels = new Int32Array(vertices).fill(-1);
    levels[0] = 0;
    const buffers: Record<string, Int32Array> = {
      starts: graph.starts.slice(),
      targets: graph.targets.slice(),
      levels,
    };
    // One frontier a level, so that no launch has to clear what another left.
    for (let level = 0; level <= depth; level++) {
      buffers[`count${level}`] = Int32Array.of(level === 0 ? 1 : 0);
      buffers[`frontier${level}`] = new Int32Array(vertices);
    }
    return buffers;
  },
  launches: Array.from({ length: depth }, (_, level) => ({
    kernel: 'bfsFrontier',
    grid: 2,
    block: 64,
    args: [
      ...['starts', 'targets', 'levels', `frontier${level}`, `count${level}`].map((buffer) => ({ buffer })),
      { buffer: `frontier${level + 1}` },
      { buffer: `count${level + 1}` },
      { i32: level + 1 },
    ],
  })),
  reference: (buffers) => {
    const { levels } = buffers;
    const queue = [0];
    for (const v of queue) {
      if (levels[v] === depth) continue;
      for (const target of graph.targets.subarray(graph.starts[v], graph.starts[v + 1])) {
        if (levels[target] >= 0) continue;
        levels[target] = levels[v] + 1;
        queue.push(target);
      }
    }
    for (let level = 1; level <= depth; level++) {
      const found = queue.filter((v) => levels[v] === level);
      buffers[`count${level}`][0] = found.length;
      buffers[`frontier${level}`].set(found);
    }
  },
  settle: (buffers) => {
    for (let level = 1; level <= depth; level++) {
      buffers[`frontier${level}`].subarray(0, buffers[`count${level}`][0]).sort();
    }
  },
  outputs: Object.fromEntries(
    ['levels', ...levelNames('count'), ...levelNames('frontier')].map((name) => [name, 'exact' as const]),
  ),
});

function levelNames(prefix: string): string[] {
  return Array.from({ length: depth }, (_, level) => `${prefix}${level + 1}`);
}
