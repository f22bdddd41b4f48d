import type { IrFunction } from '../ir.js';
import { dominates, dominators } from './dominators.js';

export interface LoopAnalysis {
  /** Edges to a block that dominates their source, `[from, to]`, in block order. */
  readonly backEdges: readonly (readonly [number, number])[];
  /** Natural loops, one a header, outer before inner. */
  readonly loops: readonly NaturalLoop[];
  /** False when some cycle can be entered at more than one block. */
  readonly isReducible: boolean;
  /** Edges that go back in a depth-first walk: every cycle has one, in irreducible graphs too. */
  readonly retreatingEdges: readonly (readonly [number, number])[];
}

export interface NaturalLoop {
  readonly header: number;
  /** Blocks of the loop, ascending, header included. */
  readonly blocks: readonly number[];
  /** How many loops contain this one's header, itself included. */
  readonly depth: number;
}

/** Loops of a function's reachable blocks. */
export function analyzeLoops(fn: IrFunction): LoopAnalysis {
  const tree = dominators(fn);
  const retreatingEdges = findRetreatingEdges(fn);
  const backEdges = retreatingEdges.filter(([from, to]) => dominates(tree, to, from));
  const members = new Map<number, Set<number>>();
  for (const [from, to] of backEdges) {
    const loop = members.get(to) ?? new Set([to]);
    members.set(to, loop);
    const work = [from];
    for (let block = work.pop(); block !== undefined; block = work.pop()) {
      if (loop.has(block)) continue;
      loop.add(block);
      work.push(...(fn.blocks[block]?.predecessors ?? []));
    }
  }
  const all = [...members.values()];
  const loops = [...members].map(([header, blocks]) => ({
    header,
    blocks: [...blocks].sort((a, b) => a - b),
    depth: all.filter((loop) => loop.has(header)).length,
  }));
  loops.sort((a, b) => a.depth - b.depth || a.header - b.header);
  return { backEdges, loops, isReducible: backEdges.length === retreatingEdges.length, retreatingEdges };
}

function findRetreatingEdges(fn: IrFunction): [number, number][] {
  const edges: [number, number][] = [];
  const state = new Uint8Array(fn.blocks.length);
  const stack: { block: number; edge: number }[] = [{ block: 0, edge: 0 }];
  state[0] = 1;
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const next = fn.blocks[top.block]?.successors[top.edge++];
    if (next === undefined) {
      state[top.block] = 2;
      stack.pop();
    } else if (state[next] === 1) edges.push([top.block, next]);
    else if (state[next] === 0) {
      state[next] = 1;
      stack.push({ block: next, edge: 0 });
    }
  }
  return edges.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}
