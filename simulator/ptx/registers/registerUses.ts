import { readRegisters, writtenRegisters } from '../analysis/registerUse.js';
import type { IrFunction } from '../ir.js';

/** Registers that each instruction of a function reads and writes. */
export interface RegisterUses {
  readonly reads: readonly (readonly number[])[];
  readonly writes: readonly (readonly number[])[];
}

export function registerUses({ instructions }: IrFunction): RegisterUses {
  return { reads: instructions.map(readRegisters), writes: instructions.map(writtenRegisters) };
}
