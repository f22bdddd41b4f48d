import { analyzeLoops, readRegisters, writtenRegisters, type IrFunction } from '../../ptx/index.js';

/** Blocks of the innermost loop around a basic block, if what the block finds in a register decides by a branch whether it goes on. */
export function loopDecidedBy(
  kernel: IrFunction,
  block: number,
  register: number,
): ReadonlySet<number> | undefined {
  const loop = innermostLoop(kernel, block);
  if (loop === undefined) return undefined;
  const told = new Set([register]);
  for (let size = 0; size !== told.size;) {
    size = told.size;
    for (const index of loop) {
      const { first, last } = kernel.blocks[index];
      for (let at = first; at <= last; at++) {
        const instruction = kernel.instructions[at];
        // What is compared and swapped next is another question.
        if (instruction.opcode === 'atom' || instruction.opcode === 'ld') continue;
        if (!readRegisters(instruction).some((each) => told.has(each))) continue;
        if (instruction.opcode === 'bra') return loop;
        for (const each of writtenRegisters(instruction)) told.add(each);
      }
    }
  }
  return undefined;
}

function innermostLoop(kernel: IrFunction, block: number): ReadonlySet<number> | undefined {
  const around = analyzeLoops(kernel).loops.filter(({ blocks }) => blocks.includes(block));
  if (around.length === 0) return undefined;
  return new Set(
    around.reduce((least, loop) => (loop.blocks.length < least.blocks.length ? loop : least)).blocks,
  );
}
