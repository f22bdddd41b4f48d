import type { IrInstruction, ScalarType } from '../../ptx/index.js';
import { isNan64 } from './doubleBits.js';
import { add32, flush32 } from './float.js';
import { advanceMbarrier } from './mbarrierState.js';
import { scalarOperation } from './operations.js';
import type { Value, ValueKind } from './operationTypes.js';

/** An atomic read-modify-write of one element. */
export interface AtomicUpdate {
  /** How memory and operands are read, and the result written. */
  readonly kind: ValueKind;
  /** What it leaves in memory: of the old value, operand b and, for `cas`, operand c. */
  readonly apply: (old: Value, b: Value, c: Value) => Value;
}

type Update = AtomicUpdate['apply'];

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
  advance: (old, b) => advanceMbarrier(BigInt(old), BigInt(b)),
  add: (old, b) => (typeof old === 'bigint' ? old + BigInt(b) : old + Number(b)),
};

/** In global memory, where the memory system adds, `add.f32` flushes subnormals; in shared memory it does not. */
const addSingle: Update = (old, b) => add32(Number(old), Number(b));
const addSingleGlobal: Update = (old, b) => flush32(add32(flush32(Number(old)), flush32(Number(b))));

/** Name of the operation of an `atom` or `red`, or undefined. */
export function atomicName(modifiers: readonly string[]): string | undefined {
  return modifiers.find((modifier) => Object.hasOwn(updates, modifier));
}

/** The update of an `atom` or `red` by its modifiers and the type of an element; undefined when there is none such. */
export function atomicUpdate(
  instruction: IrInstruction,
  type: ScalarType,
  space: 'global' | 'shared',
): AtomicUpdate | undefined {
  const name = atomicName(instruction.modifiers);
  const update = name === undefined ? undefined : updates[name];
  if (name === undefined || update === undefined) return undefined;
  if (name === 'exch' || name === 'cas' || !type.includes('f')) return { kind: type, apply: update };
  if (type === 'f32' && name === 'add')
    return { kind: type, apply: space === 'global' ? addSingleGlobal : addSingle };
  // Other floats compute as the instruction of that name does.
  const modifiers = name === 'add' ? ['rn', type] : [type];
  const operation = scalarOperation({ ...instruction, opcode: name, modifiers, types: [type] });
  if (operation === undefined) return undefined;
  const { result, apply } = operation;
  if (type !== 'f64') return { kind: result, apply: (old, b) => apply(old, b) };
  return { kind: result, apply: space === 'global' ? addDoubleGlobal(apply) : (old, b) => apply(b, old) };
}

/** The memory system passes a NaN on as it is, the operand's before its own. */
function addDoubleGlobal(add: (...values: Value[]) => Value): Update {
  return (old, b) => (isNan64(BigInt(b)) ? b : isNan64(BigInt(old)) ? old : add(b, old));
}
