import type { IrFunction, IrInstruction } from '../ir.js';
import { flowBackward } from './backwardFlow.js';
import type { BitSet } from './bitSet.js';
import { readRegisters, writtenRegisters } from './registerUse.js';

/** Which registers still hold a value that some path reads. */
export interface Liveness {
  /** Registers live at the start and at the end of each block. */
  readonly liveIn: readonly BitSet[];
  readonly liveOut: readonly BitSet[];
  /** Registers live just before each instruction of a block, from its first to its last, and after the last. */
  pointsOf(block: number): BitSet[];
  /** Registers live just before one instruction. */
  before(instruction: number): BitSet;
}

/** Steps backwards over one instruction: what it writes is dead before it, unless its guard may leave it as it was. */
function stepBack(live: BitSet, instruction: IrInstruction): void {
  if (instruction.guard === undefined)
    for (const register of writtenRegisters(instruction)) live.delete(register);
  for (const register of readRegisters(instruction)) live.add(register);
}

export function analyzeLiveness(fn: IrFunction): Liveness {
  const { liveIn, liveOut } = flowBackward(fn, stepBack);
  const pointsOf = (index: number): BitSet[] => {
    const block = fn.blocks[index];
    const out = liveOut[index];
    if (block === undefined || out === undefined) throw new RangeError(`${fn.name} has no block ${index}`);
    const points = [out.copy()];
    const live = out.copy();
    for (let at = block.last; at >= block.first; at--) {
      const instruction = fn.instructions[at];
      if (instruction !== undefined) stepBack(live, instruction);
      points.push(live.copy());
    }
    return points.reverse();
  };
  const before = (instruction: number): BitSet => {
    const block = fn.blocks.find((each) => each.first <= instruction && instruction <= each.last);
    const point = block === undefined ? undefined : pointsOf(block.index)[instruction - block.first];
    if (point === undefined) throw new RangeError(`${fn.name} has no instruction ${instruction}`);
    return point;
  };
  return { liveIn, liveOut, pointsOf, before };
}
