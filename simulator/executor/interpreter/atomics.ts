import type { ScalarType } from '../../ptx/index.js';
import { add32, flush32 } from '../arithmetic/index.js';
import type { Value } from '../arithmetic/index.js';
import type { ResolvedSpace } from './memorySpaces.js';

/** What an atomic leaves in memory: of the old value, operand b and, for `cas`, operand c. */
export type AtomicUpdate = (old: Value, b: Value, c: Value, space: ResolvedSpace) => Value;

const updates: Readonly<Record<string, AtomicUpdate>> = {
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
const addSingle: AtomicUpdate = (old, b, _, space) => {
  const [x, y] = [Number(old), Number(b)];
  return space === 'global' ? flush32(add32(flush32(x), flush32(y))) : add32(x, y);
};

/** The update of an `atom` or `red` by its modifiers and type. */
export function atomicUpdate(modifiers: readonly string[], type: ScalarType): AtomicUpdate {
  if (type === 'f32') return addSingle;
  const name = modifiers.find((modifier) => Object.hasOwn(updates, modifier)) ?? 'exch';
  return updates[name] ?? ((old) => old);
}
