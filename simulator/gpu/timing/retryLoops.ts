import {
  analyzeLoops,
  type IrFunction,
  type IrInstruction,
  isAtomic,
  isBranch,
  isLoad,
  isPlainLoad,
  readRegisters,
  writtenRegisters,
} from '../../ptx/index.js';

/**
 * Blocks of the innermost loop around a basic block, if what the block finds in a register decides by a branch whether it goes
 * on, and its address is the same in each turn: who looks elsewhere next time waits for nobody.
 * @param address register that has it, -1 for none
 */
export function loopDecidedBy(
  kernel: IrFunction,
  block: number,
  register: number,
  address: number,
): ReadonlySet<number> | undefined {
  const loop = innermostLoop(kernel, block);
  if (loop === undefined) return undefined;
  if (address >= 0 && !isSameEachTurn(kernel, loop, address)) return undefined;
  const told = new Set([register]);
  for (let size = 0; size !== told.size;) {
    size = told.size;
    for (const index of loop) {
      const { first, last } = kernel.blocks[index];
      for (let at = first; at <= last; at++) {
        const instruction = kernel.instructions[at];
        // What is compared and swapped next is another question.
        if (isAtomic(instruction.opcode) || isPlainLoad(instruction.opcode)) continue;
        if (!readRegisters(instruction).some((each) => told.has(each))) continue;
        if (isBranch(instruction.opcode)) return loop;
        for (const each of writtenRegisters(instruction)) told.add(each);
      }
    }
  }
  return undefined;
}

/** Basic blocks of a loop behind which it may be left. */
export function waysOut(kernel: IrFunction, loop: ReadonlySet<number>): number {
  let count = 0;
  for (const index of loop) if (kernel.blocks[index].successors.some((next) => !loop.has(next))) count += 1;
  return count;
}

function innermostLoop(kernel: IrFunction, block: number): ReadonlySet<number> | undefined {
  const around = analyzeLoops(kernel).loops.filter(({ blocks }) => blocks.includes(block));
  if (around.length === 0) return undefined;
  return new Set(
    around.reduce((least, loop) => (loop.blocks.length < least.blocks.length ? loop : least)).blocks,
  );
}

/** Whether what a register is made of does not change within the loop. */
function isSameEachTurn(kernel: IrFunction, loop: ReadonlySet<number>, register: number): boolean {
  const writers = new Map<number, IrInstruction[]>();
  for (const index of loop) {
    const { first, last } = kernel.blocks[index];
    for (let at = first; at <= last; at++) {
      const instruction = kernel.instructions[at];
      for (const each of writtenRegisters(instruction)) {
        const known = writers.get(each);
        if (known === undefined) writers.set(each, [instruction]);
        else known.push(instruction);
      }
    }
  }
  const open = new Set<number>();
  const isSame = (each: number): boolean => {
    // It is made of itself.
    if (open.has(each)) return false;
    open.add(each);
    const same = (writers.get(each) ?? []).every(
      (writer) => !findsAnother(writer.opcode) && readRegisters(writer).every(isSame),
    );
    open.delete(each);
    return same;
  };
  return isSame(register);
}

/** Whether it may find another value each time. */
function findsAnother(opcode: string): boolean {
  return isLoad(opcode) || isAtomic(opcode);
}
