import { flowBackward } from '../analysis/backwardFlow.js';
import type { BitSet } from '../analysis/bitSet.js';
import { readRegisters, writtenRegisters } from '../analysis/registerUse.js';
import { isa, isPlainLoad } from '../isa/index.js';
import type { IrFunction, IrInstruction } from '../ir.js';

export interface NeededInstructions {
  /** Whether leaving the instruction out could be noticed. */
  isNeeded(instruction: number): boolean;
  /** Registers at the end of each block whose value can be noticed. */
  readonly liveOut: readonly BitSet[];
}

/** Finds what a compiler would not remove as dead: effects, and what they are computed from. */
export function neededInstructions(fn: IrFunction): NeededInstructions {
  const needed = new Uint8Array(fn.instructions.length);
  const { liveOut } = flowBackward(fn, (live, instruction, at) => {
    if (stepBack(live, instruction)) needed[at] = 1;
  });
  return { isNeeded: (instruction) => needed[instruction] === 1, liveOut };
}

/** @returns whether the instruction is needed. */
function stepBack(live: BitSet, instruction: IrInstruction): boolean {
  const written = writtenRegisters(instruction);
  if (!hasEffect(instruction) && !written.some((register) => live.has(register))) return false;
  if (instruction.guard === undefined) for (const register of written) live.delete(register);
  for (const register of readRegisters(instruction)) live.add(register);
  return true;
}

function hasEffect({ opcode, modifiers }: IrInstruction): boolean {
  if (isPlainLoad(opcode)) {
    return modifiers.some((modifier) => /^(volatile|relaxed|acquire|mmio)$/.test(modifier));
  }
  const { kind } = isa(opcode).effects;
  // Addresses are computed, too, and nothing is done with them.
  return kind !== 'pure' && kind !== 'address';
}
