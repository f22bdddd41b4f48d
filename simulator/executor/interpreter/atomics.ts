import type { IrInstruction, ScalarType } from '../../ptx/index.js';
import { add32, flush32, scalarOperation } from '../arithmetic/index.js';
import type { Value, ValueKind } from '../arithmetic/index.js';
import { LaneFault } from './faults.js';
import type { ResolvedSpace } from './memorySpaces.js';

/** An atomic read-modify-write of one element. */
export interface AtomicOperation {
  /** How memory and operands are read, and the result written. */
  readonly kind: ValueKind;
  /** What it leaves in memory: of the old value, operand b and, for `cas`, operand c. */
  readonly update: (old: Value, b: Value, c: Value, space: ResolvedSpace) => Value;
}

type Update = AtomicOperation['update'];

const updates: Readonly<Record<string, Update>> = {
  exch: (_, b) => b,
  cas: (old, b, c) => (old === b ? c : old),
  and: (old, b) => (typeof old === 'bigint' ? old & BigInt(b) : old & Number(b)),
  or: (old, b) => (typeof old === 'bigint' ? old | BigInt(b) : old | Number(b)),
  xor: (old, b) => (typeof old === 'bigint' ? old ^ BigInt(b) : old ^ Number(b)),
  min: (old, b) => (b < old ? b : old),
  max: (old, b) => (b > old ? b : old),
  inc: (old, b) => (old >= b ? 0 : Number(old) + 1),
  dec: (old, b) => (old === 0 || old > b ? b : Number(old) - 1),
  add: (old, b) => (typeof old === 'bigint' ? old + BigInt(b) : old + Number(b)),
};

/** `add.f32` flushes subnormals in global memory, where the memory system adds, and not in shared memory. */
const addSingle: Update = (old, b, _, space) => {
  const [x, y] = [Number(old), Number(b)];
  return space === 'global' ? flush32(add32(flush32(x), flush32(y))) : add32(x, y);
};

/** The operation of an `atom` or `red` by its modifiers and type. @throws LaneFault when there is none such */
export function atomicOperation(instruction: IrInstruction, type: ScalarType): AtomicOperation {
  const { modifiers } = instruction;
  const name = modifiers.find((modifier) => Object.hasOwn(updates, modifier));
  const update = name === undefined ? undefined : updates[name];
  if (name === undefined || update === undefined) {
    throw new LaneFault(
      'unsupportedInstruction',
      `${instruction.opcode} without an operation is not supported`,
    );
  }
  if (name === 'exch' || name === 'cas' || !/f/.test(type)) return { kind: type, update };
  if (type === 'f32' && name === 'add') return { kind: type, update: addSingle };
  return likeScalar(instruction, name, type);
}

/** Other floats compute as the instruction of that name does. */
function likeScalar(instruction: IrInstruction, opcode: string, type: ScalarType): AtomicOperation {
  const modifiers = opcode === 'add' ? ['rn', type] : [type];
  const operation = scalarOperation({ ...instruction, opcode, modifiers, types: [type] });
  if (operation === undefined) {
    throw new LaneFault('unsupportedInstruction', `${instruction.opcode}.${opcode}.${type} is not supported`);
  }
  return { kind: operation.result, update: (old, b) => operation.apply(old, b) };
}
