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
      const put = replacements.get(at);
      if (put === undefined) instructions.push(placed(old, instructions.length));
      else for (const each of put) instructions.push(placed(each, instructions.length));
    }
    if (instructions.length === first) throw new RangeError(`${fn.name}: block ${block.index} is left empty`);
    return { ...block, first, last: instructions.length - 1 };
  });
  return { ...fn, registers: [...fn.registers, ...addedRegisters], instructions, blocks };
}

/** An instruction at its place: the same object where that is its place already. */
function placed(instruction: NewInstruction | IrInstruction, index: number): IrInstruction {
  if ('index' in instruction && instruction.index === index) return instruction;
  const { line, opcode, modifiers, types, guard, carry, selectors, nounroll, isEngine, prototype } =
    instruction;
  const { destinations, sources } = instruction;
  return {
    index,
    line,
    opcode,
    modifiers,
    types,
    guard,
    carry,
    selectors,
    nounroll,
    isEngine,
    prototype,
    destinations,
    sources,
  };
}
