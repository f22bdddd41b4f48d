import type { IrBlock, IrFunction, IrInstruction, IrRegister } from '../ir.js';

/** An instruction that does not know its place yet. */
export type NewInstruction = Omit<IrInstruction, 'index'>;

/**
 * A function with some of its instructions replaced by others, in place; blocks and branches stay what they are.
 * @param replacements by index of the old instruction: what stands there instead, maybe nothing
 * @throws RangeError when a block would be left empty
 */
export function replaceInstructions(
  fn: IrFunction,
  replacements: ReadonlyMap<number, readonly NewInstruction[]>,
  addedRegisters: readonly IrRegister[] = [],
): IrFunction {
  const instructions: IrInstruction[] = [];
  const blocks = fn.blocks.map((block): IrBlock => {
    const first = instructions.length;
    for (let at = block.first; at <= block.last; at++) {
      const old = fn.instructions[at];
      if (old === undefined) continue;
      for (const each of replacements.get(at) ?? [old])
        instructions.push({ ...each, index: instructions.length });
    }
    if (instructions.length === first) throw new RangeError(`${fn.name}: block ${block.index} is left empty`);
    return { ...block, first, last: instructions.length - 1 };
  });
  return { ...fn, registers: [...fn.registers, ...addedRegisters], instructions, blocks };
}
