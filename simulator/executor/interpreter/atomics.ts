import type { IrInstruction, ScalarType } from '../../ptx/index.js';
import { atomicUpdate } from '../arithmetic/index.js';
import type { Value, ValueKind } from '../arithmetic/index.js';
import { LaneFault } from './faults.js';
import type { ResolvedSpace } from './memorySpaces.js';

/** An atomic read-modify-write of one element, whose space only its address tells. */
export interface AtomicOperation {
  /** How memory and operands are read, and the result written. */
  readonly kind: ValueKind;
  /** What it leaves in memory: of the old value, operand b and, for `cas`, operand c. */
  readonly update: (old: Value, b: Value, c: Value, space: ResolvedSpace) => Value;
}

/** The operation of an `atom` or `red` by its modifiers and type. @throws LaneFault when there is none such */
export function atomicOperation(instruction: IrInstruction, type: ScalarType): AtomicOperation {
  const inGlobal = atomicUpdate(instruction, type, 'global');
  const inShared = atomicUpdate(instruction, type, 'shared');
  if (inGlobal === undefined || inShared === undefined) {
    throw new LaneFault(
      'unsupportedInstruction',
      `${[instruction.opcode, ...instruction.modifiers].join('.')} is not supported`,
    );
  }
  return {
    kind: inGlobal.kind,
    update: (old, b, c, space) => (space === 'global' ? inGlobal : inShared).apply(old, b, c),
  };
}
