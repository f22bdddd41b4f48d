import type { IrFunction } from '../ir.js';
import { headText, parameterText, registerTexts, variableText } from './declarationText.js';
import { FunctionNames } from './functionNames.js';
import { instructionLines, type InstructionLines } from './instructionText.js';

export interface PrintedBlock {
  readonly label?: string;
  readonly instructions: readonly InstructionLines[];
}

/**
 * A function as PTX.
 * @throws RangeError for a function that is refused, since what was not understood is not in the IR
 */
export function printFunction(fn: IrFunction): string {
  if (fn.refusal !== undefined) {
    const { line, instruction, reason } = fn.refusal;
    throw new RangeError(`${fn.name} cannot be printed: line ${line}, '${instruction}': ${reason}`);
  }
  const names = new FunctionNames(fn);
  // The condition code is part of `add.cc` and the like, no register of the text.
  const conditionCodes = new Set(fn.instructions.map(({ carry }) => carry?.register));
  const declarations = [
    ...registerTexts(fn.registers.filter((_, register) => !conditionCodes.has(register))),
    ...fn.variables.map(variableText),
    ...fn.callParameters.map((parameter) => `${parameterText(parameter)};`),
  ];
  const lines = [headText(fn), '{', ...declarations.map(indented)];
  let index = 0;
  for (const { label, instructions } of blocksOf(fn, names)) {
    if (label !== undefined) lines.push(`${label}:`);
    for (const { tables, text } of instructions) {
      const { nounroll, isEngine } = fn.instructions[index++] ?? {};
      if (nounroll === true) lines.push(indented('.pragma "nounroll";'));
      if (isEngine === true) lines.push(indented('.pragma "engine";'));
      lines.push(...tables, indented(text));
    }
  }
  return [...lines, '}', ''].join('\n');
}

/** The printed instructions of a function's blocks, in order, without declarations. */
export function printBlocks(fn: IrFunction): PrintedBlock[] {
  return blocksOf(fn, new FunctionNames(fn));
}

function blocksOf(fn: IrFunction, names: FunctionNames): PrintedBlock[] {
  return fn.blocks.map(({ index, first, last }) => {
    const label = names.labelOf(index);
    const instructions = fn.instructions.slice(first, last + 1).map((each) => instructionLines(each, names));
    return { ...(label === undefined ? {} : { label }), instructions };
  });
}

function indented(text: string): string {
  return `  ${text}`;
}
