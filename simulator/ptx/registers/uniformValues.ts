import { postDominators } from '../analysis/dominators.js';
import { readRegisters, writtenRegisters } from '../analysis/registerUse.js';
import type { IrFunction, IrInstruction, IrOperand } from '../ir.js';
import { isFloatType } from '../scalarTypes.js';

/** Integer work that the uniform datapath does. */
const UNIFORM_OPCODES =
  /^(mov|cvta|cvt|add|sub|addc|subc|mul|mad|madc|mul24|mad24|shl|shr|shf|and|or|xor|not|neg|setp|selp|lop3|bfe|bfi|popc|prmt|bra|brx)$/;

function readsThread(operand: IrOperand): boolean {
  return operand.kind === 'special' && !/^(ctaid|nctaid|ntid)/.test(operand.name);
}

/** Whether an instruction's results differ between the threads of a warp, or are not of a kind that uniform registers hold. */
function leavesUniform(instruction: IrInstruction): boolean {
  if (instruction.opcode === 'ld') {
    return !instruction.modifiers.some((each) => each.startsWith('param') || each === 'const');
  }
  if (!UNIFORM_OPCODES.test(instruction.opcode)) return true;
  if (instruction.opcode !== 'mov' && instruction.types.some(isFloatType)) return true;
  return instruction.sources.some(readsThread);
}

/**
 * Registers whose values are the same in all threads of a warp and come from integer work alone, so that the machine
 * keeps them in constant memory or, since sm_75, in uniform registers. A write where only some threads are is not uniform.
 */
export function varyingRegisters(fn: IrFunction): Uint8Array {
  const varying = new Uint8Array(fn.registers.length);
  const blockOf = new Int32Array(fn.instructions.length);
  for (const block of fn.blocks) blockOf.fill(block.index, block.first, block.last + 1);
  const parted = new Uint8Array(fn.blocks.length);
  const ends = endingBlocks(fn);
  const { immediate } = postDominators(fn);
  for (let changed = true; changed;) {
    changed = false;
    for (const instruction of fn.instructions) {
      const reads = readRegisters(instruction);
      const block = blockOf[instruction.index] ?? 0;
      const spreads =
        parted[block] === 1 ||
        leavesUniform(instruction) ||
        reads.some((register) => varying[register] === 1);
      if (!spreads) continue;
      for (const register of writtenRegisters(instruction)) {
        if (varying[register] === 1) continue;
        varying[register] = 1;
        changed = true;
      }
    }
    for (const block of fn.blocks) {
      const last = fn.instructions[block.last];
      if (last === undefined || block.successors.length < 2) continue;
      if (!readRegisters(last).some((register) => varying[register] === 1)) continue;
      if (block.successors.some((next) => ends[next] === 1)) continue;
      if (partThreads(fn, block.index, immediate[block.index] ?? -1, parted)) changed = true;
    }
  }
  return varying;
}

/** Blocks that do nothing but end the thread: those that leave there are out of the way of the others. */
function endingBlocks(fn: IrFunction): Uint8Array {
  const ends = new Uint8Array(fn.blocks.length);
  for (const block of fn.blocks) {
    const last = fn.instructions[block.last];
    if (
      block.successors.length === 0 &&
      block.last - block.first < 1 &&
      /^(ret|exit|trap)$/.test(last?.opcode ?? '')
    )
      ends[block.index] = 1;
  }
  return ends;
}

/** Marks what lies between a branch that parts the threads of a warp and where they meet again. @returns whether any was new. */
function partThreads(fn: IrFunction, from: number, meeting: number, parted: Uint8Array): boolean {
  let changed = false;
  const seen = new Set<number>([from]);
  const work = [...(fn.blocks[from]?.successors ?? [])];
  for (let block = work.pop(); block !== undefined; block = work.pop()) {
    if (block === meeting || seen.has(block)) continue;
    seen.add(block);
    if (parted[block] === 0) {
      parted[block] = 1;
      changed = true;
    }
    work.push(...(fn.blocks[block]?.successors ?? []));
  }
  return changed;
}
