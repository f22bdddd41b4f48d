import type { IrFunction } from '../ir.js';
import { headText, parameterText, registerTexts, variableText } from './declarationText.js';
import { FunctionNames } from './functionNames.js';
import { instructionLines } from './instructionText.js';

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
  for (const block of fn.blocks) {
    const label = names.labelOf(block.index);
    if (label !== undefined) lines.push(`${label}:`);
    for (const instruction of fn.instructions.slice(block.first, block.last + 1)) {
      const { tables, text } = instructionLines(instruction, names);
      lines.push(...tables, indented(text));
    }
  }
  return [...lines, '}', ''].join('\n');
}

function indented(text: string): string {
  return `  ${text}`;
}
