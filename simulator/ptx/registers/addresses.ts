import { isAccess } from '../isa/index.js';
import { readRegisters } from '../analysis/registerUse.js';
import type { IrFunction, IrInstruction } from '../ir.js';
import { typeBits } from '../scalarTypes.js';
import type { Place } from './machineOp.js';

/** A register and a constant that stand for another register, which is never there by itself. */
export interface AddressRoot {
  readonly register: number;
  readonly offset: number;
}

/** What registers stand for whose constants addresses take in. */
export function addressRoots(
  fn: IrFunction,
  parts: readonly (readonly number[] | undefined)[],
): Map<number, AddressRoot> {
  const roots = new Map<number, AddressRoot>();
  for (const { opcode, sources, destinations } of fn.instructions) {
    const [target, source] = [destinations[0], sources[0]];
    if (target?.kind !== 'register' || source?.kind !== 'register') continue;
    if (parts[target.register] === undefined) continue;
    const { register, offset } = roots.get(source.register) ?? { register: source.register, offset: 0 };
    const added = opcode === 'add' && sources[1]?.kind === 'integer' ? sources[1].low | 0 : 0;
    if (/^(cvta|mov|add)$/.test(opcode)) roots.set(target.register, { register, offset: offset + added });
  }
  return roots;
}

export function placeOf(
  instruction: IrInstruction,
  roots: ReadonlyMap<number, AddressRoot>,
): Place | undefined {
  const address = instruction.sources.find((each) => each.kind === 'address');
  if (address?.kind !== 'address') return undefined;
  const { base, offset } = address;
  const elements = instruction.modifiers.includes('v4') ? 4 : instruction.modifiers.includes('v2') ? 2 : 1;
  const bytes = (elements * typeBits(instruction.types.at(-1) ?? 'b32')) / 8;
  const root = typeof base === 'number' ? roots.get(base) : undefined;
  return root === undefined
    ? { base, offset, bytes }
    : { base: root.register, offset: root.offset + offset, bytes };
}

/** The constant that a 64-bit integer addition adds to a register. */
export function stepOf({ opcode, types, sources, destinations }: IrInstruction): number | undefined {
  if (opcode !== 'add' || !/^[us]64$/.test(types[0] ?? '')) return undefined;
  const [source, added] = sources;
  if (source?.kind !== 'register' || added?.kind !== 'integer' || destinations[0]?.kind !== 'register')
    return undefined;
  return added.low | 0;
}

/** Marks uniform 64-bit values that are no constants: as addresses they must come into registers. */
export function uniformBases(
  fn: IrFunction,
  widths: Uint8Array,
  parts: readonly (readonly number[] | undefined)[],
): Uint8Array {
  const bases = new Uint8Array(fn.registers.length);
  fn.registers.forEach(({ type }, register) => {
    const isUniform = widths[register] === 0 && parts[register] === undefined;
    if (isUniform && type !== 'f64' && typeBits(type) === 64) bases[register] = 1;
  });
  return bases;
}

/** The uniform values that an instruction addresses by, or adds to one that is not uniform. */
export function basesOf(instruction: IrInstruction, bases: Uint8Array): number[] {
  if (instruction.opcode === 'add')
    return readRegisters(instruction).filter((register) => bases[register] === 1);
  if (!isAccess(instruction.opcode)) return [];
  return instruction.sources.flatMap((source) =>
    source.kind === 'address' && typeof source.base === 'number' && bases[source.base] === 1
      ? [source.base]
      : [],
  );
}
