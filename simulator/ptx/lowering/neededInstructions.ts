import { BitSet } from '../analysis/bitSet.js';
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
  const size = fn.registers.length;
  const liveIn = fn.blocks.map(() => new BitSet(size));
  const liveOut = fn.blocks.map(() => new BitSet(size));
  const needed = new Uint8Array(fn.instructions.length);
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
      if (instruction !== undefined && stepBack(live, instruction)) needed[at] = 1;
    }
    if (!into.addAll(live)) continue;
    for (const before of block.predecessors) {
      if (queued[before] === 1) continue;
      queued[before] = 1;
      work.push(before);
    }
  }
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
