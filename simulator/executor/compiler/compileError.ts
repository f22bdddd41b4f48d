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
