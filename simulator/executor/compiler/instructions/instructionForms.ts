import type { IrInstruction, IrOperand, ScalarType } from '../../../ptx/index.js';

/** The type that an instruction computes in: its last. */
export function lastType(instruction: IrInstruction): ScalarType {
  return instruction.types.at(-1) ?? 'b32';
}

/** The value of an integer immediate, when the operand is one. */
export function immediateOf(operand: IrOperand | undefined): number | undefined {
  return operand?.kind === 'integer' ? operand.low : undefined;
}

/** The instruction that an atomic on halves computes as, element by element; others have code of their own. */
export function scalarAtomic(instruction: IrInstruction): IrInstruction | undefined {
  const type = instruction.types.at(-1) ?? 'b32';
  const opcode = instruction.modifiers.find((modifier) => /^(add|min|max)$/.test(modifier));
  if (opcode === undefined || !/^b?f16/.test(type)) return undefined;
  const [, value = { kind: 'sink' }] = instruction.sources;
  const modifiers = opcode === 'add' ? ['rn', type] : [type];
  return { ...instruction, opcode, modifiers, types: [type], sources: [value, value] };
}
