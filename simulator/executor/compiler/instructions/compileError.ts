import type { IrFunction, IrInstruction } from '../../../ptx/index.js';

export type CompileErrorCode = 'unsupportedInstruction' | 'tooLarge';

/** A kernel that cannot be compiled; the PTX line says where. */
export class CompileError extends Error {
  readonly code: CompileErrorCode;
  readonly ptxLine: number;

  constructor(code: CompileErrorCode, message: string, ptxLine: number) {
    super(message);
    this.name = 'CompileError';
    this.code = code;
    this.ptxLine = ptxLine;
  }
}

/** Refuses by name what the compiler does not know. */
export function unsupported(instruction: IrInstruction, fn: IrFunction, why: string): CompileError {
  const text = [instruction.opcode, ...instruction.modifiers].join('.');
  return new CompileError(
    'unsupportedInstruction',
    `${fn.name}: line ${instruction.line}: ${text}: ${why}`,
    instruction.line,
  );
}
