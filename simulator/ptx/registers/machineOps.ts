import { readRegisters, writtenRegisters } from '../analysis/registerUse.js';
import type { IrFunction, IrInstruction } from '../ir.js';
import { typeBits } from '../scalarTypes.js';
import { expansion } from './expansions.js';
import { varyingRegisters } from './uniformValues.js';

/** Order that memory keeps among operations. */
export type MemoryOrder = 'none' | 'read' | 'write' | 'fence';

/** What one PTX instruction asks of the register file, once uniform and constant work is gone. */
export interface MachineOp {
  /** Registers, as the function numbers them; those that other operations take in are replaced by what they are made of. */
  readonly defs: readonly number[];
  readonly uses: readonly number[];
  /** Until a result may be used, in the assembler's eyes. */
  readonly latency: number;
  /** Registers that it needs for itself while it runs. */
  readonly temps: number;
  readonly order: MemoryOrder;
  /** State space that `order` is about; generic addresses are of the space 'global'. */
  readonly space: string;
  /** Block of the function that it stands in. */
  readonly block: number;
  /** A guard may leave the results as they were. */
  readonly guarded: boolean;
  /** Uniform 64-bit values that it needs in registers: an address, or what an address is added to. */
  readonly bases: readonly number[];
  /** Where an operation on memory begins: a register (as it was before constants were added) or a name, and a distance. */
  readonly place?: Place;
  /** Adds this constant to its one source, a 64-bit value: an address that others may take in as a distance. */
  readonly step?: number;
  /** A copy: no operation of its own where its source may share its register. */
  readonly copy: boolean;
}

export interface Place {
  readonly base: number | string | undefined;
  readonly offset: number;
  readonly bytes: number;
}

/** A function as the register file sees it. */
export interface MachineCode {
  /** Operations of each block, in order. */
  readonly blocks: readonly (readonly MachineOp[])[];
  /** 32-bit registers that a value takes: 0 for what is uniform, constant, a predicate or part of another operation. */
  readonly widths: Uint8Array;
  /** Writes of each register. */
  readonly writes: Uint16Array;
  /** Blocks that `.pragma "nounroll"` stands in. */
  readonly notUnrolled: ReadonlySet<number>;
}

/** An operation whose result never lies in a register: those that use it compute it, or address by it, themselves. */
function isTakenIn(instruction: IrInstruction, readers: readonly IrInstruction[]): boolean {
  const { opcode, modifiers, types } = instruction;
  switch (opcode) {
    case 'mov':
    case 'cvta':
    case 'neg':
    case 'not':
      return instruction.destinations[0]?.kind === 'register' && instruction.sources[0]?.kind === 'register';
    case 'cvt':
      return types.length === 2 && /^[us]64$/.test(types[0] ?? '') && /^[us](32|16|8)$/.test(types[1] ?? '');
    case 'mul':
      return modifiers.includes('wide') && readers.every(isWideAdd);
    case 'shl':
      return types[0] === 'b64' && readers.every(isWideAdd);
    case 'add':
      return (
        instruction.sources[1]?.kind === 'integer' &&
        typeBits(types[0] ?? 'b32') === 64 &&
        readers.every((reader) => /^(ld|st|atom|red)$/.test(reader.opcode))
      );
    default:
      return false;
  }
}

function isWideAdd({ opcode, types }: IrInstruction): boolean {
  return opcode === 'add' && /^[us]64$/.test(types[0] ?? '');
}

export function machineCode(fn: IrFunction): MachineCode {
  const varying = varyingRegisters(fn);
  const count = fn.registers.length;
  const writes = new Uint16Array(count);
  const readers: IrInstruction[][] = Array.from({ length: count }, () => []);
  for (const instruction of fn.instructions) {
    for (const register of writtenRegisters(instruction)) {
      writes[register] = Math.min(2, (writes[register] ?? 0) + (instruction.guard === undefined ? 1 : 2));
    }
    for (const register of readRegisters(instruction)) readers[register]?.push(instruction);
  }
  const widths = new Uint8Array(count);
  fn.registers.forEach(({ type }, register) => {
    if (type !== 'pred' && (varying[register] === 1 || (typeBits(type) === 64 && writes[register] !== 1)))
      widths[register] = Math.ceil(typeBits(type) / 32);
  });
  const parts = takenIn(fn, { writes, readers, widths });
  const roots = addressRoots(fn, parts, writes);
  const bases = uniformBases(fn, widths, parts);
  const notUnrolled = new Set<number>();
  const blocks = fn.blocks.map(({ index, first, last }) => {
    const ops: MachineOp[] = [];
    for (let at = first; at <= last; at++) {
      const instruction = fn.instructions[at];
      if (instruction !== undefined) {
        if (instruction.nounroll === true) notUnrolled.add(index);
        const op = machineOp(instruction, parts, widths, fn, roots, bases, index);
        if (op !== undefined) ops.push(op);
      }
    }
    return ops;
  });
  return { blocks, widths, writes, notUnrolled };
}

interface Uses {
  readonly writes: Uint16Array;
  readonly readers: readonly (readonly IrInstruction[])[];
  readonly widths: Uint8Array;
}

/** What registers written once are made of, when their writer is taken in by those that read them; their widths become 0. */
function takenIn(fn: IrFunction, { writes, readers, widths }: Uses): (readonly number[] | undefined)[] {
  const parts: (readonly number[] | undefined)[] = new Array<readonly number[] | undefined>(writes.length);
  for (const instruction of fn.instructions) {
    const [register] = writtenRegisters(instruction);
    if (register === undefined || writes[register] !== 1 || instruction.guard !== undefined) continue;
    if (widths[register] === 0) continue;
    const constant = instruction.opcode === 'mov' && readRegisters(instruction).length === 0;
    if (constant && instruction.sources[0]?.kind !== 'special') {
      widths[register] = 0;
      parts[register] = [];
      continue;
    }
    if (!isTakenIn(instruction, readers[register] ?? [])) continue;
    const sources = readRegisters(instruction);
    // A source that is written again may hold another value where the result is read.
    if (sources.some((source) => writes[source] !== 1 && (widths[source] ?? 0) > 0)) continue;
    parts[register] = sources.flatMap((source) => parts[source] ?? [source]);
    widths[register] = 0;
  }
  return parts;
}

function machineOp(
  instruction: IrInstruction,
  parts: readonly (readonly number[] | undefined)[],
  widths: Uint8Array,
  fn: IrFunction,
  roots: ReadonlyMap<number, Root>,
  bases: Uint8Array,
  block: number,
): MachineOp | undefined {
  const isPredicate = (register: number): boolean => fn.registers[register]?.type === 'pred';
  const counted = (register: number): boolean => (widths[register] ?? 0) > 0 || isPredicate(register);
  const defs = writtenRegisters(instruction).filter(counted);
  const { opcode, modifiers } = instruction;
  const memory = memoryOrder(instruction);
  const uses = readRegisters(instruction)
    .flatMap((register) => parts[register] ?? [register])
    .filter(counted);
  if (defs.length === 0 && memory === 'none' && !/^(bra|brx|ret|exit|call)$/.test(opcode)) return undefined;
  if (/^(bra|ret|exit)$/.test(opcode) && uses.length === 0) return undefined;
  const { latency, temps } = expansion(instruction);
  return {
    defs,
    uses: [...new Set(uses)],
    latency,
    temps,
    order: memory,
    bases: basesOf(instruction, bases),
    place: memory === 'read' || memory === 'write' ? placeOf(instruction, roots) : undefined,
    step: stepOf(instruction),
    space: modifiers.find((each) => /^(shared|local)/.test(each)) ?? 'global',
    block,
    guarded: instruction.guard !== undefined,
    copy: opcode === 'mov' && uses.length === 1 && defs.length === 1,
  };
}

interface Root {
  readonly register: number;
  readonly offset: number;
}

/** Of registers that are another and a constant, and lie in none of their own: which, and how far. */
function addressRoots(
  fn: IrFunction,
  parts: readonly (readonly number[] | undefined)[],
  writes: Uint16Array,
): Map<number, Root> {
  const roots = new Map<number, Root>();
  for (const instruction of fn.instructions) {
    const { opcode, types, sources, destinations } = instruction;
    const [target, source] = [destinations[0], sources[0]];
    if (target?.kind !== 'register' || source?.kind !== 'register') continue;
    if (writes[target.register] !== 1 || writes[source.register] !== 1) {
      if (parts[target.register] === undefined) continue;
    }
    const before = roots.get(source.register) ?? { register: source.register, offset: 0 };
    if (opcode === 'cvta' || (opcode === 'mov' && parts[target.register] !== undefined)) {
      roots.set(target.register, before);
    } else if (opcode === 'add' && /64$/.test(types[0] ?? '') && parts[target.register] !== undefined) {
      const added = sources[1];
      if (added?.kind === 'integer') {
        roots.set(target.register, { register: before.register, offset: before.offset + (added.low | 0) });
      }
    }
  }
  return roots;
}

function placeOf(instruction: IrInstruction, roots: ReadonlyMap<number, Root>): Place | undefined {
  const address = [...instruction.sources, ...instruction.destinations].find(
    (each) => each.kind === 'address',
  );
  if (address?.kind !== 'address') return undefined;
  const vector = instruction.modifiers.includes('v4') ? 4 : instruction.modifiers.includes('v2') ? 2 : 1;
  const bytes = (vector * typeBits(instruction.types.at(-1) ?? 'b32')) / 8;
  if (typeof address.base !== 'number') return { base: address.base, offset: address.offset, bytes };
  const root = roots.get(address.base);
  return root === undefined
    ? { base: address.base, offset: address.offset, bytes }
    : { base: root.register, offset: root.offset + address.offset, bytes };
}

function stepOf({ opcode, types, sources, destinations }: IrInstruction): number | undefined {
  if (opcode !== 'add' || !/64$/.test(types[0] ?? '') || types[0] === 'f64') return undefined;
  const [source, added] = sources;
  if (source?.kind !== 'register' || added?.kind !== 'integer' || destinations[0]?.kind !== 'register')
    return undefined;
  return added.low | 0;
}

/** Uniform 64-bit integers that are computed at run time (1), not constants (0). */
function uniformBases(
  fn: IrFunction,
  widths: Uint8Array,
  parts: readonly (readonly number[] | undefined)[],
): Uint8Array {
  const bases = new Uint8Array(fn.registers.length);
  fn.registers.forEach(({ type }, register) => {
    if (widths[register] === 0 && parts[register] === undefined && type !== 'f64' && typeBits(type) === 64)
      bases[register] = 1;
  });
  return bases;
}

function basesOf(instruction: IrInstruction, bases: Uint8Array): number[] {
  const { opcode } = instruction;
  if (/^(ld|st|atom|red|ldu)$/.test(opcode)) {
    const found: number[] = [];
    for (const source of instruction.sources) {
      if (source.kind === 'address' && typeof source.base === 'number' && bases[source.base] === 1)
        found.push(source.base);
    }
    return found;
  }
  if (opcode !== 'add') return [];
  return readRegisters(instruction).filter((register) => bases[register] === 1);
}

function memoryOrder({ opcode, modifiers }: IrInstruction): MemoryOrder {
  switch (opcode) {
    case 'ld':
    case 'ldu':
      if (modifiers.some((each) => each === 'volatile' || each === 'acquire')) return 'fence';
      return modifiers.some((each) => each === 'nc' || each === 'const' || each.startsWith('param'))
        ? 'none'
        : 'read';
    case 'st':
      return modifiers.some((each) => each.startsWith('param')) ? 'none' : 'write';
    case 'red':
      return 'write';
    case 'atom':
    case 'bar':
    case 'barrier':
    case 'membar':
    case 'fence':
    case 'call':
    case 'cp':
      return 'fence';
    default:
      return 'none';
  }
}
