import type { CheckContext } from './instructionRules.js';
import type { IrFunction, IrRefusal } from './ir.js';
import { checkInstruction } from './support.js';

/** The first instruction that cannot run. */
export function firstRefusal(fn: IrFunction, module: CheckContext): IrRefusal | undefined {
  const bytesOf = new Map(fn.callParameters.map(({ name, bytes }) => [name, bytes]));
  const context = {
    architecture: module.architecture,
    prototypeOf: (name: string) => module.prototypeOf(name),
    callParameterBytes: (name: string) => bytesOf.get(name),
  };
  for (const instruction of fn.instructions) {
    const reason = checkInstruction(instruction, fn, context);
    if (reason !== undefined) {
      const text = [instruction.opcode, ...instruction.modifiers].join('.');
      return { line: instruction.line, instruction: text, reason };
    }
  }
  return undefined;
}

/** The one whose line comes first. */
export function earlier(one: IrRefusal | undefined, other: IrRefusal | undefined): IrRefusal | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return other.line < one.line ? other : one;
}
