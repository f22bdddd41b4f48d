import { flowBackward } from '../analysis/backwardFlow.js';
import type { BitSet } from '../analysis/bitSet.js';
import { readRegisters, writtenRegisters } from '../analysis/registerUse.js';
import type { IrFunction, IrInstruction } from '../ir.js';

export interface NeededInstructions {
  /** Whether leaving the instruction out could be noticed. */
  isNeeded(instruction: number): boolean;
  /** Registers at the end of each block whose value can be noticed. */
  readonly liveOut: readonly BitSet[];
}

/** Opcodes that do no more than compute their destination. */
const pure = new Set(
  (
    'mov cvta isspacep cvt add sub mul mad fma mul24 mad24 sad div rem neg abs min max copysign testp rcp sqrt rsqrt sin cos ' +
    'lg2 ex2 tanh and or xor not cnot lop3 shl shr shf bfe bfi bfind popc clz brev bmsk szext fns prmt dp4a dp2a setp set selp ' +
    'slct addc subc madc mapa'
  ).split(' '),
);

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
  if (opcode === 'ld') {
    return modifiers.some((modifier) => /^(volatile|relaxed|acquire|mmio)$/.test(modifier));
  }
  return !pure.has(opcode);
}
