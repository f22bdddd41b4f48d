import { endsThread } from '../isa/index.js';
import type { IrFunction } from '../ir.js';

/** `immediate[block]` is the next node up the tree; -1 at the root and for blocks that the root does not reach. */
export interface DominatorTree {
  readonly immediate: Int32Array;
}

/** A graph by adjacency, as the dominator algorithm wants it. */
interface Graph {
  readonly size: number;
  readonly root: number;
  next(node: number): readonly number[];
  previous(node: number): readonly number[];
}

/** Immediate dominators of the blocks of a function; block 0 is the root. */
export function dominators(fn: IrFunction): DominatorTree {
  return {
    immediate: immediateDominators({
      size: fn.blocks.length,
      root: 0,
      next: (block) => fn.blocks[block]?.successors ?? [],
      previous: (block) => fn.blocks[block]?.predecessors ?? [],
    }),
  };
}

/**
 * Immediate post-dominators: where the paths from a block meet again for certain. A virtual exit, numbered
 * `fn.blocks.length`, follows every block that leaves the function, and closes endless loops too, so that every block
 * has a post-dominator.
 */
export function postDominators(fn: IrFunction): DominatorTree {
  const exit = fn.blocks.length;
  const leaving = leavingBlocks(fn);
  const intoExit = [...leaving];
  return {
    immediate: immediateDominators({
      size: exit + 1,
      root: exit,
      next: (block) => (block === exit ? intoExit : (fn.blocks[block]?.predecessors ?? [])),
      previous: (block) => {
        const successors = fn.blocks[block]?.successors ?? [];
        return leaving.has(block) ? [...successors, exit] : successors;
      },
    }),
  };
}

/** Whether `above` dominates `below` (each dominates itself). */
export function dominates(tree: DominatorTree, above: number, below: number): boolean {
  for (let node = below; node >= 0; node = tree.immediate[node] ?? -1) if (node === above) return true;
  return false;
}

/** Blocks with an edge to the virtual exit: those that end the thread, and one block of each endless region. */
function leavingBlocks(fn: IrFunction): Set<number> {
  const leaving = new Set<number>();
  const canLeave = new Uint8Array(fn.blocks.length);
  const mark = (start: number): void => {
    leaving.add(start);
    const work = [start];
    canLeave[start] = 1;
    for (let block = work.pop(); block !== undefined; block = work.pop()) {
      for (const before of fn.blocks[block]?.predecessors ?? []) {
        if (canLeave[before] === 1) continue;
        canLeave[before] = 1;
        work.push(before);
      }
    }
  };
  for (const block of fn.blocks) {
    const last = fn.instructions[block.last];
    if (last !== undefined && endsThread(last.opcode)) mark(block.index);
  }
  for (const block of fn.blocks) if (block.successors.length === 0) mark(block.index);
  for (let block = fn.blocks.length - 1; block >= 0; block--) if (canLeave[block] === 0) mark(block);
  return leaving;
}

/** Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm". */
function immediateDominators(graph: Graph): Int32Array {
  const order = postOrder(graph);
  const position = new Int32Array(graph.size).fill(-1);
  order.forEach((node, index) => (position[node] = index));
  const immediate = new Int32Array(graph.size).fill(-1);
  immediate[graph.root] = graph.root;
  const meet = (a: number, b: number): number => {
    while (a !== b) {
      while ((position[a] ?? 0) < (position[b] ?? 0)) a = immediate[a] ?? graph.root;
      while ((position[b] ?? 0) < (position[a] ?? 0)) b = immediate[b] ?? graph.root;
    }
    return a;
  };
  for (let changed = true; changed;) {
    changed = false;
    for (let index = order.length - 2; index >= 0; index--) {
      const node = order[index] ?? 0;
      let found = -1;
      for (const before of graph.previous(node)) {
        if ((immediate[before] ?? -1) < 0) continue;
        found = found < 0 ? before : meet(before, found);
      }
      if (immediate[node] === found) continue;
      immediate[node] = found;
      changed = true;
    }
  }
  immediate[graph.root] = -1;
  return immediate;
}

function postOrder(graph: Graph): number[] {
  const order: number[] = [];
  const seen = new Uint8Array(graph.size);
  const stack: { node: number; edge: number }[] = [{ node: graph.root, edge: 0 }];
  seen[graph.root] = 1;
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const next = graph.next(top.node)[top.edge++];
    if (next === undefined) {
      order.push(top.node);
      stack.pop();
    } else if (seen[next] === 0) {
      seen[next] = 1;
      stack.push({ node: next, edge: 0 });
    }
  }
  return order;
}
