import { isPlainLoad, isStore } from '../../isa/index.js';
import type { IrInstruction, IrOperand, IrVariable, ScalarType } from '../../ir.js';
import { isSignedType, typeBits, typeBytes } from '../../scalarTypes.js';
import type { DraftCode, DraftInstruction, DraftNames } from './draftCode.js';
import { address, draft, register } from './draftCode.js';

/** One value inside a parameter that is kept in registers. */
export interface Piece {
  readonly offset: number;
  readonly bytes: number;
  readonly type: ScalarType;
}

/** Where a parameter that is kept in memory begins: in a `.local` variable, or so many bytes above the frame pointer. */
export type MemoryPlace = { readonly variable: string } | { readonly frameOffset: number };

interface Storage {
  readonly name: string;
  readonly bytes: number;
  readonly align: number;
  /** Body whose activation it belongs to. */
  readonly body: string;
  readonly registers: Map<number, number>;
  /** Storage in the same group, toward the group's first. */
  group: Storage | undefined;
  readonly pieces: Map<number, Piece>;
  inMemory: boolean;
  place: MemoryPlace | undefined;
}

const chunkTypes = ['b64', 'b32', 'b16', 'b8'] as const;

/**
 * The `.param` variables by which calls pass values: in registers where every access has a constant offset and they cut
 * the variable into the same pieces, otherwise in memory. Variables that a call joins are cut alike.
 */
export class ParameterStorages {
  private readonly storages = new Map<string, Storage>();

  constructor(private readonly names: DraftNames) {}

  /** @returns its name, which compilers do not give. */
  declare(bytes: number, align: number, body: string): string {
    const name = `%param$${this.storages.size}`;
    this.storages.set(name, {
      name,
      bytes,
      align: Math.max(align, 8),
      body,
      registers: new Map(),
      group: undefined,
      pieces: new Map(),
      inMemory: false,
      place: undefined,
    });
    return name;
  }

  has(name: string): boolean {
    return this.storages.has(name);
  }

  bytesOf(name: string): number {
    return this.get(name).bytes;
  }

  bodyOf(name: string): string {
    return this.get(name).body;
  }

  /** Notes how an instruction of a body uses storages. */
  note(instruction: DraftInstruction): void {
    const isAccess = isPlainLoad(instruction.opcode) || isStore(instruction.opcode);
    const [target] = instruction.sources;
    if (isAccess && target?.kind === 'address' && typeof target.base === 'string' && this.has(target.base)) {
      const type = instruction.types[0] ?? 'b32';
      const value = isPlainLoad(instruction.opcode) ? instruction.destinations[0] : instruction.sources[1];
      const count = value?.kind === 'vector' ? value.elements.length : 1;
      for (let index = 0; index < count; index++) {
        this.notePiece(this.root(target.base), target.offset + index * typeBytes(type), type);
      }
    }
    for (const source of instruction.sources) {
      if (source.kind === 'symbol' && this.has(source.name)) this.root(source.name).inMemory = true;
    }
  }

  /** Two storages whose values a call copies are cut alike. */
  join(a: string, b: string): void {
    const [first, second] = [this.root(a), this.root(b)];
    if (first === second) return;
    second.group = first;
    first.inMemory ||= second.inMemory;
    for (const piece of second.pieces.values()) this.notePiece(first, piece.offset, piece.type);
  }

  isInMemory(name: string): boolean {
    return this.root(name).inMemory;
  }

  /** Storages of a body that need memory. */
  inMemoryOf(body: string): readonly string[] {
    return [...this.storages.values()]
      .filter((storage) => storage.body === body && this.root(storage.name).inMemory)
      .map((storage) => storage.name);
  }

  /** Memory that `placeAt` then gives a place. */
  extentOf(name: string): { readonly bytes: number; readonly align: number } {
    return this.get(name);
  }

  placeAt(name: string, place: MemoryPlace): void {
    this.get(name).place = place;
  }

  placeOf(name: string): MemoryPlace {
    const { place } = this.get(name);
    if (place === undefined) throw new RangeError(`${name} has no place`);
    return place;
  }

  /** A `.local` variable for a storage. */
  variableOf(name: string): IrVariable {
    const { bytes, align } = this.get(name);
    return { name, space: 'local', type: 'b8', bytes, align, isExtern: false, line: 0 };
  }

  /** Registers of a storage that is not in memory, in the order of its group's pieces. */
  registersOf(name: string): number[] {
    return [...this.root(name).pieces.values()].map((piece) => this.registerOf(name, piece));
  }

  pieceTypesOf(name: string): ScalarType[] {
    return [...this.root(name).pieces.values()].map((piece) => piece.type);
  }

  /** Turns an access into moves between registers. @returns false when it is no access to a storage in registers. */
  rewriteAccess(instruction: DraftInstruction, into: DraftCode): boolean {
    const [target] = instruction.sources;
    const isLoad = isPlainLoad(instruction.opcode);
    if (!isLoad && !isStore(instruction.opcode)) return false;
    if (target?.kind !== 'address' || typeof target.base !== 'string' || !this.has(target.base)) return false;
    if (this.isInMemory(target.base)) return false;
    const type = instruction.types[0] ?? 'b32';
    const value = isLoad ? instruction.destinations[0] : instruction.sources[1];
    const elements = value?.kind === 'vector' ? value.elements : value === undefined ? [] : [value];
    elements.forEach((element, index) => {
      if (element.kind === 'sink') return;
      const piece = this.root(target.base as string).pieces.get(target.offset + index * typeBytes(type));
      if (piece === undefined)
        throw new RangeError(`line ${instruction.line}: a parameter without its piece`);
      const held = register(this.registerOf(target.base as string, piece));
      into.emit(
        isLoad
          ? this.loadPiece(instruction, type, element, held)
          : this.storePiece(instruction, type, element, held),
      );
    });
    return true;
  }

  private loadPiece(
    at: DraftInstruction,
    type: ScalarType,
    destination: IrOperand,
    held: IrOperand,
  ): DraftInstruction {
    const bits = typeBits(type);
    const width = this.widthOf(destination, bits);
    const name = width === bits ? `mov.b${bits}` : conversion(isSignedType(type), width, bits);
    return draft(at.line, name, { ...guardOf(at), destinations: [destination], sources: [held] });
  }

  private storePiece(
    at: DraftInstruction,
    type: ScalarType,
    source: IrOperand,
    held: IrOperand,
  ): DraftInstruction {
    const bits = typeBits(type);
    const kept = Math.max(16, bits);
    const isWider = source.kind === 'register' && this.widthOf(source, bits) > bits;
    const name = isWider ? conversion(false, kept, bits) : `mov.b${kept}`;
    const value: IrOperand =
      source.kind === 'integer' && bits === 8 ? { ...source, low: source.low & 0xff, high: 0 } : source;
    return draft(at.line, name, { ...guardOf(at), destinations: [held], sources: [value] });
  }

  private widthOf(operand: IrOperand, otherwise: number): number {
    if (operand.kind !== 'register') return otherwise;
    return typeBits(this.names.registers[operand.register]?.type ?? 'b32');
  }

  private registerOf(name: string, piece: Piece): number {
    const { registers } = this.get(name);
    let found = registers.get(piece.offset);
    if (found === undefined) {
      const suffix = piece.offset === 0 ? '' : `_${piece.offset}`;
      found = this.names.register(`${name.replace('$', '')}${suffix}`, piece.type);
      registers.set(piece.offset, found);
    }
    return found;
  }

  private notePiece(storage: Storage, offset: number, type: ScalarType): void {
    const bytes = typeBytes(type);
    if (bytes > 8) storage.inMemory = true;
    for (const piece of storage.pieces.values()) {
      if (piece.offset === offset && piece.bytes === bytes) {
        if (piece.type !== heldType(type)) {
          storage.pieces.set(offset, { ...piece, type: `b${Math.max(16, bytes * 8)}` as ScalarType });
        }
        return;
      }
      if (offset < piece.offset + piece.bytes && piece.offset < offset + bytes) storage.inMemory = true;
    }
    if (!storage.pieces.has(offset)) storage.pieces.set(offset, { offset, bytes, type: heldType(type) });
  }

  private root(name: string): Storage {
    let found = this.get(name);
    while (found.group !== undefined) found = found.group;
    return found;
  }

  private get(name: string): Storage {
    const found = this.storages.get(name);
    if (found === undefined) throw new RangeError(`${name} is no parameter of a call`);
    return found;
  }
}

/** The register type that holds a piece: floats stay floats, all else is bits. */
function heldType(type: ScalarType): ScalarType {
  if (type === 'f32' || type === 'f64') return type;
  return `b${Math.max(16, typeBits(type))}` as ScalarType;
}

function conversion(isSigned: boolean, to: number, from: number): string {
  const kind = isSigned ? 's' : 'u';
  return `cvt.${kind}${to}.${kind}${from}`;
}

function guardOf(instruction: DraftInstruction): { guard?: NonNullable<IrInstruction['guard']> } {
  return instruction.guard === undefined ? {} : { guard: instruction.guard };
}

/** Copies bytes from one address of local memory to another, in the largest pieces that `align` allows. */
export function copyLocal(
  into: DraftCode,
  line: number,
  bytes: number,
  from: { base: number | string; offset: number },
  to: { base: number | string; offset: number },
): void {
  for (let at = 0; at < bytes;) {
    const type = chunkTypes.find((each) => typeBytes(each) <= bytes - at) ?? 'b8';
    const held = into.names.register('%copy', heldType(type));
    into.add(line, `ld.local.${type}`, {
      destinations: [register(held)],
      sources: [address(from.base, from.offset + at)],
    });
    into.add(line, `st.local.${type}`, { sources: [address(to.base, to.offset + at), register(held)] });
    at += typeBytes(type);
  }
}
