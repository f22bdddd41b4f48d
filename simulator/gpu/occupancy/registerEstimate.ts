import { estimateRegistersPerThread, type IrFunction } from '../../ptx/index.js';

/** The least that a thread is given. */
const LEAST = 16;

const estimates = new WeakMap<IrFunction, number>();

/** Registers a thread, estimated from the values that are live at once; `.maxnreg` caps it as it caps the assembler. */
export function estimateRegisters(kernel: IrFunction): number {
  let registers = estimates.get(kernel);
  if (registers === undefined) {
    registers = Math.max(LEAST, Math.ceil(estimateRegistersPerThread(kernel)));
    const cap = kernel.directives['maxnreg']?.[0];
    if (cap !== undefined) registers = Math.min(registers, cap);
    estimates.set(kernel, registers);
  }
  return registers;
}
