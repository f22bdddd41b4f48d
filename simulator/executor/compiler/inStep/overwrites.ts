import { readRegisters, writtenRegisters, type IrFunction } from '../../../ptx/index.js';
import { spaceOf } from '../instructionClass.js';
import { isOrdered, type LaneAccess } from './laneAccesses.js';
import type { LaneValues } from './laneValues.js';
import { isThreadIndex, registerOf, type LinearForms } from './linearForms.js';

/** Accesses by which lanes of a warp meet one another in one instruction, where it shows which of them comes last. */
export interface Overwrites {
  /** Stores of values that differ. */
  readonly stores: readonly LaneAccess[];
  /** Atomics that tell what they found. */
  readonly updates: readonly LaneAccess[];
}

/**
 * Of strong accesses those whose lanes may meet; of plain stores, which programs mostly keep apart, those whose lanes do
 * meet for certain, and those in shared memory at places that have been read from memory.
 */
export function overwritesOf(
  fn: IrFunction,
  values: LaneValues,
  forms: LinearForms,
  accesses: readonly LaneAccess[],
): Overwrites {
  const isData = registersFromMemory(fn);
  const meets = (access: LaneAccess): boolean => {
    const { form, bytes, only, space } = access;
    if (only !== undefined || !access.writes) return false;
    const varying = [...form.terms].filter(([term]) => isThreadIndex(term) || !forms.isUniform(term));
    const [first, ...others] = varying;
    if (first === undefined) return true;
    const [term, stride] = first;
    if (others.length === 0 && (term === 'tid.x' || term === 'laneid')) return Math.abs(stride) < bytes;
    if (isOrdered(fn.instructions[access.at])) return true;
    return space === 'shared' && varying.some(([each]) => isData[registerOf(each) ?? -1] === 1);
  };
  const differs = ({ at }: LaneAccess): boolean => {
    const instruction = fn.instructions[at];
    if (instruction?.opcode !== 'st') return true;
    return readRegisters({ ...instruction, sources: instruction.sources.slice(1) }).some(
      (register) => values.varying[register] === 1,
    );
  };
  const met = accesses.filter(meets);
  return {
    stores: met.filter((access) => !access.reads && differs(access)),
    updates: met.filter(({ reads, commutes }) => reads && commutes === undefined),
  };
}

/** 1 for registers whose values depend on what has been read from memory. */
function registersFromMemory(fn: IrFunction): Uint8Array {
  const isData = new Uint8Array(fn.registers.length);
  for (let changed = true; changed;) {
    changed = false;
    for (const instruction of fn.instructions) {
      const { opcode, modifiers } = instruction;
      const isRead =
        (opcode === 'ld' && spaceOf(modifiers) !== 'param' && spaceOf(modifiers) !== 'const') ||
        opcode === 'atom';
      if (!isRead && !readRegisters(instruction).some((register) => isData[register] === 1)) continue;
      for (const register of writtenRegisters(instruction)) {
        if (isData[register] === 1) continue;
        isData[register] = 1;
        changed = true;
      }
    }
  }
  return isData;
}
