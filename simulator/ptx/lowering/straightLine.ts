import { endsThread } from '../isa/index.js';
import type { IrBlock, IrFunction } from '../ir.js';

/**
 * Runs of blocks that control passes in order and that nothing enters or leaves in between: a block and its only
 * successor join when that one has no other predecessor. Blocks that control never reaches are left out.
 *
 * @returns block indices of each run, in the order of execution
 */
export function straightLines(fn: IrFunction): number[][] {
  const reached = reachableBlocks(fn);
  const next = new Map<number, number>();
  const isJoined = new Set<number>();
  for (const block of reached.values()) {
    const successor = onlySuccessor(block, fn);
    if (successor === undefined || successor === 0) continue;
    const predecessors = fn.blocks[successor]?.predecessors.filter((each) => reached.has(each)) ?? [];
    if (new Set(predecessors).size !== 1) continue;
    next.set(block.index, successor);
    isJoined.add(successor);
  }
  const lines: number[][] = [];
  for (const start of reached.keys()) {
    if (isJoined.has(start)) continue;
    const line = [start];
    for (let at = next.get(start); at !== undefined; at = next.get(at)) line.push(at);
    lines.push(line);
  }
  return lines;
}

function onlySuccessor(block: IrBlock, fn: IrFunction): number | undefined {
  const successors = new Set(block.successors);
  if (successors.size !== 1) return undefined;
  const last = fn.instructions[block.last];
  const leaves = last !== undefined && endsThread(last.opcode);
  return leaves ? undefined : block.successors[0];
}

/** Reachable blocks by index, ascending. */
function reachableBlocks(fn: IrFunction): Map<number, IrBlock> {
  const seen = new Set<number>([0]);
  const work = [0];
  for (let index = work.pop(); index !== undefined; index = work.pop()) {
    for (const successor of fn.blocks[index]?.successors ?? []) {
      if (seen.has(successor)) continue;
      seen.add(successor);
      work.push(successor);
    }
  }
  return new Map(fn.blocks.filter((block) => seen.has(block.index)).map((block) => [block.index, block]));
}
