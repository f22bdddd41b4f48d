import { lowerModule, parseModule, PtxParseError } from '../index.js';

/** What became of a damaged text. */
export type MutationOutcome = 'parsed' | 'refused';

/**
 * Reads a damaged text and looks at what must hold whatever it is: a module whose blocks hold all instructions, whose
 * operands name registers and blocks that there are, and whose refusals have a place; or a PtxParseError with one.
 * @throws Error with what does not hold
 */
export function checkDamagedText(text: string): MutationOutcome {
  const lines = text.split('\n').length;
  let module;
  try {
    module = parseModule(text, 'damaged.ptx');
  } catch (error) {
    if (!(error instanceof PtxParseError)) throw error;
    if (!(error.line >= 1 && error.line <= lines))
      throw new Error(`line ${error.line} of ${lines}`, { cause: error });
    if (error.expected === '' || error.found === '')
      throw new Error('an error without words', { cause: error });
    return 'refused';
  }
  for (const fn of module.functions) {
    if (fn.blocks.at(-1)?.last !== fn.instructions.length - 1)
      throw new Error(`${fn.name}: blocks lack instructions`);
    for (const block of fn.blocks) {
      if (block.successors.some((each) => fn.blocks[each] === undefined))
        throw new Error(`${fn.name}: no such block`);
    }
    const { refusal } = fn;
    if (
      refusal !== undefined &&
      !(refusal.line >= 1 && refusal.line <= lines && refusal.instruction !== '' && refusal.reason !== '')
    )
      throw new Error(`${fn.name}: a refusal without a place`);
    for (const { destinations, sources, line, carry } of fn.instructions) {
      if (!(line >= 1 && line <= lines)) throw new Error(`${fn.name}: an instruction at line ${line}`);
      if (carry !== undefined && fn.registers[carry.register]?.type !== 'pred')
        throw new Error(`${fn.name}: no carry`);
      for (const operand of [...destinations, ...sources]) {
        if (operand.kind === 'register' && fn.registers[operand.register] === undefined)
          throw new Error(`${fn.name}: no register ${operand.register}`);
        if (operand.kind === 'label' && fn.blocks[operand.block] === undefined)
          throw new Error(`${fn.name}: no block ${operand.block}`);
      }
    }
  }
  // What loading does next must not fail either: it refuses what it cannot lower.
  lowerModule(module);
  return 'parsed';
}
