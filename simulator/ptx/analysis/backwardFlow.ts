import type { IrFunction, IrInstruction } from '../ir.js';
import { BitSet } from './bitSet.js';

export interface BackwardFlow {
  /** Registers of the set at the start and at the end of each block. */
  readonly liveIn: readonly BitSet[];
  readonly liveOut: readonly BitSet[];
}

/**
 * Sets of registers that grow against the flow of control, to their smallest fixed point. `stepBack` turns the set behind
 * an instruction into the one before it, in place; it is called several times for each, with sets that only grow.
 */
export function flowBackward(
  fn: IrFunction,
  stepBack: (live: BitSet, instruction: IrInstruction, index: number) => void,
): BackwardFlow {
  const size = fn.registers.length;
  const liveIn = fn.blocks.map(() => new BitSet(size));
  const liveOut = fn.blocks.map(() => new BitSet(size));
  const work = fn.blocks.map((block) => block.index);
  const queued = new Uint8Array(fn.blocks.length).fill(1);
  for (let index = work.pop(); index !== undefined; index = work.pop()) {
    queued[index] = 0;
    const [block, into, out] = [fn.blocks[index], liveIn[index], liveOut[index]];
    if (block === undefined || into === undefined || out === undefined) continue;
    for (const successor of block.successors) {
      const next = liveIn[successor];
      if (next !== undefined) out.addAll(next);
    }
    const live = out.copy();
    for (let at = block.last; at >= block.first; at--) {
      const instruction = fn.instructions[at];
      if (instruction !== undefined) stepBack(live, instruction, at);
    }
    if (!into.addAll(live)) continue;
    for (const before of block.predecessors) {
      if (queued[before] === 1) continue;
      queued[before] = 1;
      work.push(before);
    }
  }
  return { liveIn, liveOut };
}
