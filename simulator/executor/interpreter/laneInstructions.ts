import type { IrFunction, IrInstruction, IrOperand, ScalarType } from '../../ptx/index.js';
import {
  asksTextureUnit,
  isa,
  isFetch,
  isOnAddress,
  isWait,
  memoryEffect,
  typeBits,
  typeBytes,
} from '../../ptx/index.js';
import { bitsOfValue, scalarOperation, valueOfBits } from '../arithmetic/index.js';
import type { Value, ValueKind } from '../arithmetic/index.js';
import type { DeviceRuntime } from '../deviceRuntime/index.js';
import { spaceOf } from '../compiler/instructions/index.js';
import { meetsInCluster } from '../clusters.js';
import {
  CLUSTER_RANK_SHIFT,
  CLUSTER_RANK_STEP,
  GLOBAL_BASE,
  LOCAL_WINDOW_BASE,
  PARAM_WINDOW_BASE,
  SHARED_WINDOW_BASE,
} from '../memory/index.js';
import { fetchCode, FETCH_RESULTS, FETCH_WORDS, TextureFault, type TextureUnits } from '../textures/index.js';
import { atomicOperation } from './atomics.js';
import { LaneFault } from './faults.js';
import type { Location, ResolvedSpace } from './memorySpaces.js';
import { loadBits, splitGeneric, storeBits } from './memorySpaces.js';
import type { LaneContext, OperandReader, OperandWriter, SymbolAddress } from './operands.js';
import { addressReader, operandReader, operandWriter } from './operands.js';

export type AccessKind = 'load' | 'store' | 'atomic';

/** A lane with its memory. */
export interface MemoryContext extends LaneContext {
  /** Whose access is under way, for the report of a fault. */
  lane: number;
  /**
   * Checks an access and finds its bytes.
   * @param align what the address must be a multiple of: `bytes` by default
   * @throws LaneFault
   */
  locate(
    lane: number,
    space: ResolvedSpace,
    address: number,
    bytes: number,
    kind: AccessKind,
    align?: number,
  ): Location;
  /** See `BlockMemory.locateTogether`. */
  locateTogether(
    lanes: number,
    space: ResolvedSpace,
    addresses: Float64Array,
    bytes: number,
    kind: AccessKind,
  ): Location | undefined;
  /** As `locate` for a load that no observer is told of and no counter counts. @throws LaneFault */
  peek(lane: number, space: ResolvedSpace, address: number, bytes: number): Location;
  /** `printf`, `malloc` and the like. */
  readonly runtime: DeviceRuntime;
  /** What texture units answer in this launch. */
  readonly textures: TextureUnits;
  /** Tells the observer of the texel that a fetch has read. */
  tellFetch(lane: number, address: number, bytes: number): void;
  /** Tells the observer of an allocation that has been made, or a release that is about to be. */
  tellHeap(lane: number, what: 'malloc' | 'free', address: number, bytes: number): void;
  /** Lets simulated time pass for the block. */
  sleep(ns: number): void;
}

/** What an instruction does for one lane. */
export type LaneEffect = (context: MemoryContext, lane: number) => void;

/** The effect of an instruction that lanes execute each for itself; undefined for all others. */
export function laneInstruction(
  instruction: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
): LaneEffect | undefined {
  const { opcode } = instruction;
  switch (memoryEffect(opcode)) {
    case 'load':
      return load(instruction, fn, symbols);
    case 'store':
      return store(instruction, fn, symbols);
    case 'atomic':
    case 'reduction':
      return atomic(instruction, fn, symbols);
    case 'copy':
      return copyAsync(instruction, fn, symbols);
    case 'discard':
      return undefined;
    case undefined:
      break;
  }
  if (isOnAddress(opcode)) {
    return addressEffects[opcode]?.(instruction, fn, symbols);
  }
  if (asksTextureUnit(opcode)) return askTextureUnit(instruction, fn, symbols);
  if (isWait(opcode)) {
    const read = operandReader(first(instruction.sources), 'u32', symbols);
    return (context, lane) => context.sleep(Number(read(context, lane)));
  }
  return isa(opcode).syntax.isMove ? move(instruction, fn, symbols) : scalar(instruction, fn, symbols);
}

const addressEffects: Readonly<
  Record<string, (instruction: IrInstruction, fn: IrFunction, symbols: SymbolAddress) => LaneEffect>
> = { cvta: convertAddress, isspacep: isInSpace, mapa: mapRank, getctarank: rankOf };

function first(operands: readonly IrOperand[]): IrOperand {
  const operand = operands[0];
  if (operand === undefined) throw new LaneFault('unsupportedInstruction', 'an operand is missing');
  return operand;
}

/** Operands as words and results as words, whatever they mean. */
function askTextureUnit(instruction: IrInstruction, fn: IrFunction, symbols: SymbolAddress): LaneEffect {
  const code = fetchCode(instruction);
  const [handle = { kind: 'sink' }, ...others] = instruction.sources;
  const [destination = { kind: 'sink' }] = instruction.destinations;
  const readHandle = operandReader(handle, 'u64', symbols);
  const readers = others.flatMap(elementsOf).map((each) => operandReader(each, 'b32', symbols));
  const words = new Int32Array(FETCH_WORDS);
  const operands = { words, floats: new Float32Array(words.buffer) };
  const results = new Int32Array(FETCH_RESULTS);
  const isRead = isFetch(instruction.opcode);
  const give = resultWriter(destination, instruction, fn);
  return (context, lane) => {
    const bits = BigInt.asUintN(64, BigInt(readHandle(context, lane)));
    readers.forEach((read, index) => (words[index] = Number(read(context, lane)) | 0));
    try {
      context.textures.fetch(code, Number(bits & 0xffffffffn), Number(bits >> 32n), operands, results);
    } catch (error) {
      if (!(error instanceof TextureFault)) throw error;
      throw new LaneFault(error.code, error.message, error.address);
    }
    if (isRead) {
      const texel = context.textures.lastTexel();
      if (texel !== undefined) context.tellFetch(lane, texel.address, texel.bytes);
    }
    give(context, lane, results);
  };
}

/** Words to registers: four of a fetch, an address with or without a predicate, a word or a predicate. */
function resultWriter(
  destination: IrOperand,
  { opcode }: IrInstruction,
  fn: IrFunction,
): (context: MemoryContext, lane: number, results: Int32Array) => void {
  if (opcode === 'surfplace') {
    const [address, isInside] =
      destination.kind === 'pair' ? [destination.first, destination.second] : [destination, undefined];
    const write = operandWriter(address, 'u64', fn);
    const writeInside = isInside === undefined ? undefined : operandWriter(isInside, 'pred', fn);
    return (context, lane, results) => {
      const [low = 0, high = 0, inside = 0] = results;
      write(context, lane, (BigInt(high) << 32n) | BigInt(low >>> 0));
      writeInside?.(context, lane, inside);
    };
  }
  const isPredicate = opcode === 'istypep';
  const writers = elementsOf(destination).map((each) =>
    operandWriter(each, isPredicate ? 'pred' : 'b32', fn),
  );
  return (context, lane, results) => {
    writers.forEach((write, index) => {
      write(context, lane, results[index] ?? 0);
    });
  };
}

/** Bits of a type, whatever they mean: moves, loads and stores keep a NaN's payload. */
function rawKind(type: ScalarType): ValueKind {
  return type === 'pred' ? 'pred' : (`b${typeBits(type)}` as ValueKind);
}

/**
 * `cp.async`: copies bytes from global to shared memory where it is issued. A source size below the copy's fills the rest
 * with zeros; one of nothing reads nothing.
 */
function copyAsync(instruction: IrInstruction, fn: IrFunction, symbols: SymbolAddress): LaneEffect {
  const [target, source, size, ...rest] = instruction.sources;
  if (size?.kind !== 'integer') {
    throw new LaneFault('unsupportedInstruction', 'a copy without the number of its bytes');
  }
  const bytes = size.low;
  const requireOwn = ownShared('shared', instruction, fn);
  const to = addressReader(target ?? { kind: 'sink' }, fn, symbols);
  const from = addressReader(source ?? { kind: 'sink' }, fn, symbols);
  const readers = rest.map((operand) => ({
    isPredicate: isPredicate(operand, fn),
    read: operandReader(operand, isPredicate(operand, fn) ? 'pred' : 'u32', symbols),
  }));
  return (context, lane) => {
    let wanted = bytes;
    for (const { isPredicate: isIgnored, read } of readers) {
      const value = Number(read(context, lane));
      wanted = isIgnored ? (value === 1 ? 0 : wanted) : Math.min(value, bytes);
    }
    const address = from(context, lane);
    if (address % bytes !== 0) {
      throw new LaneFault(
        'misalignedAddress',
        `global address 0x${address.toString(16)} is not a multiple of ${bytes}`,
        address,
      );
    }
    const piece = wanted === 0 ? undefined : context.locate(lane, 'global', address, wanted, 'load', 1);
    const target = to(context, lane);
    requireOwn?.(context, target);
    const place = context.locate(lane, 'shared', target, bytes, 'store');
    for (let offset = 0; offset < bytes; offset++) {
      const byte = piece === undefined || offset >= wanted ? 0 : piece.view.getUint8(piece.at + offset);
      place.view.setUint8(place.at + offset, byte);
    }
  };
}

function isPredicate(operand: IrOperand, fn: IrFunction): boolean {
  return (
    operand.kind === 'negatedPredicate' ||
    (operand.kind === 'register' && fn.registers[operand.register]?.type === 'pred')
  );
}

function scalar(instruction: IrInstruction, fn: IrFunction, symbols: SymbolAddress): LaneEffect | undefined {
  const operation = scalarOperation(instruction);
  if (operation === undefined) return undefined;
  const { carry } = instruction;
  const flag: IrOperand = { kind: 'register', register: carry?.register ?? 0 };
  const sources = carry?.reads === true ? [...instruction.sources, flag] : instruction.sources;
  const readers = sources.map((operand, index) =>
    operandReader(operand, operation.sources[index] ?? 'b32', symbols),
  );
  const destination = first(instruction.destinations);
  const { apply, result } = operation;
  if (carry?.writes === true) {
    const second = { write: operandWriter(flag, 'pred', fn), apply: operation.carryOut };
    return applyTwice(readers, operandWriter(destination, result, fn), apply, second);
  }
  if (destination.kind === 'pair') {
    const second = { write: operandWriter(destination.second, 'pred', fn), apply: operation.second };
    return applyTwice(readers, operandWriter(destination.first, result, fn), apply, second);
  }
  return applyTo(readers, operandWriter(destination, result, fn), apply);
}

type Apply = (...values: Value[]) => Value;

/** An operation with two results, both of the values from before it. */
function applyTwice(
  readers: readonly OperandReader[],
  write: OperandWriter,
  apply: Apply,
  second: { readonly write: OperandWriter; readonly apply: Apply | undefined },
): LaneEffect {
  return (context, lane) => {
    const values = readers.map((read) => read(context, lane));
    write(context, lane, apply(...values));
    second.write(context, lane, second.apply?.(...values) ?? 0);
  };
}

/** The common numbers of operands without an array for each lane. */
function applyTo(readers: readonly OperandReader[], write: OperandWriter, apply: Apply): LaneEffect {
  const [a, b, c] = readers;
  if (a !== undefined && b === undefined)
    return (context, lane) => write(context, lane, apply(a(context, lane)));
  if (a !== undefined && b !== undefined && c === undefined) {
    return (context, lane) => write(context, lane, apply(a(context, lane), b(context, lane)));
  }
  if (a !== undefined && b !== undefined && c !== undefined && readers.length === 3) {
    return (context, lane) =>
      write(context, lane, apply(a(context, lane), b(context, lane), c(context, lane)));
  }
  return (context, lane) => write(context, lane, apply(...readers.map((read) => read(context, lane))));
}

function move(instruction: IrInstruction, fn: IrFunction, symbols: SymbolAddress): LaneEffect {
  const kind = rawKind(instruction.types[0] ?? 'b32');
  const destination = first(instruction.destinations);
  const source = first(instruction.sources);
  if (source.kind === 'vector') {
    const width = typeBits(kind) / source.elements.length;
    const readers = source.elements.map((element) =>
      operandReader(element, `b${width}` as ValueKind, symbols),
    );
    const write = operandWriter(destination, kind, fn);
    return (context, lane) => {
      let bits = 0n;
      readers.forEach((read, index) => {
        bits |= BigInt.asUintN(width, BigInt(read(context, lane))) << BigInt(index * width);
      });
      write(context, lane, valueOfBits(bits, kind));
    };
  }
  const read = operandReader(source, kind, symbols);
  if (destination.kind === 'vector') {
    const width = typeBits(kind) / destination.elements.length;
    const part = `b${width}` as ValueKind;
    const writers = destination.elements.map((element) => operandWriter(element, part, fn));
    return (context, lane) => {
      const bits = BigInt.asUintN(64, BigInt(read(context, lane)));
      writers.forEach((write, index) =>
        write(context, lane, valueOfBits(bits >> BigInt(index * width), part)),
      );
    };
  }
  const write = operandWriter(destination, kind, fn);
  return (context, lane) => write(context, lane, read(context, lane));
}

/** Finds the place of an access: the state space is written, or told by the generic address. */
function locator(
  instruction: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
  bytes: number,
  kind: AccessKind,
): (context: MemoryContext, lane: number) => Location {
  const address = addressReader(first(instruction.sources), fn, symbols);
  const written = spaceOf(instruction.modifiers);
  if (written === 'generic') {
    return (context, lane) => {
      const split = splitGeneric(address(context, lane));
      return context.locate(lane, split.space, split.address, bytes, kind);
    };
  }
  // A `.const` variable is a read-only piece of global memory.
  const space: ResolvedSpace = written === 'const' ? 'global' : written;
  const requireOwn = ownShared(written, instruction, fn);
  return (context, lane) => {
    const at = address(context, lane);
    requireOwn?.(context, at);
    return context.locate(lane, space, at, bytes, kind);
  };
}

/** Holds an address of the block's own shared memory to that, where blocks meet in clusters. */
export function ownShared(
  written: string,
  { modifiers }: IrInstruction,
  fn: IrFunction,
): ((context: LaneContext, address: number) => void) | undefined {
  if (written !== 'shared' || modifiers.includes('shared::cluster') || !meetsInCluster(fn)) return undefined;
  return ({ identity }, address) => {
    const rank = Math.floor(address / CLUSTER_RANK_STEP);
    if (rank === identity.clusterRank) return;
    throw new LaneFault(
      'sharedOutOfBounds',
      `shared address 0x${address.toString(16)} is in the block of rank ${rank}: reach it by .shared::cluster`,
      address,
    );
  };
}

function elementsOf(operand: IrOperand): readonly IrOperand[] {
  return operand.kind === 'vector' ? operand.elements : [operand];
}

function at(location: Location, offset: number): Location {
  return offset === 0 ? location : { space: location.space, view: location.view, at: location.at + offset };
}

function isFloat(type: ScalarType): boolean {
  return /f/.test(type);
}

function load(instruction: IrInstruction, fn: IrFunction, symbols: SymbolAddress): LaneEffect {
  const type = instruction.types[0] ?? 'b32';
  const kind: ValueKind = isFloat(type) ? rawKind(type) : type;
  const bytes = typeBytes(type);
  const writers = elementsOf(first(instruction.destinations)).map((element) =>
    operandWriter(element, kind, fn),
  );
  const locate = locator(instruction, fn, symbols, bytes * writers.length, 'load');
  return (context, lane) => {
    const location = locate(context, lane);
    const values = writers.map((_, index) => valueOfBits(loadBits(at(location, index * bytes), bytes), kind));
    writers.forEach((write, index) => write(context, lane, values[index] ?? 0));
  };
}

function store(instruction: IrInstruction, fn: IrFunction, symbols: SymbolAddress): LaneEffect {
  const kind = rawKind(instruction.types[0] ?? 'b32');
  const bytes = typeBytes(kind);
  const elements = elementsOf(instruction.sources[1] ?? { kind: 'sink' });
  const readers = elements.map((element) => operandReader(element, kind, symbols));
  const locate = locator(instruction, fn, symbols, bytes * readers.length, 'store');
  return (context, lane) => {
    const location = locate(context, lane);
    readers.forEach((read, index) => {
      storeBits(at(location, index * bytes), bytes, BigInt.asUintN(64, BigInt(read(context, lane))));
    });
  };
}

function atomic(instruction: IrInstruction, fn: IrFunction, symbols: SymbolAddress): LaneEffect {
  const type = instruction.types[0] ?? 'b32';
  if (type === 'b128') return atomic128(instruction, fn, symbols);
  const bytes = typeBytes(type);
  const { kind, update } = atomicOperation(instruction, type);
  const read = (operand: IrOperand | undefined): OperandReader[] =>
    elementsOf(operand ?? { kind: 'sink' }).map((element) => operandReader(element, kind, symbols));
  const b = read(instruction.sources[1]);
  const c = instruction.sources[2] === undefined ? b : read(instruction.sources[2]);
  const destination = instruction.destinations[0];
  const raw = rawKind(type);
  const writers =
    destination === undefined
      ? []
      : elementsOf(destination).map((element) => operandWriter(element, raw, fn));
  const locate = locator(instruction, fn, symbols, bytes * b.length, 'atomic');
  return (context, lane) => {
    const location = locate(context, lane);
    const given = b.map((readB, index) => [readB(context, lane), c[index]?.(context, lane) ?? 0] as const);
    given.forEach(([valueB, valueC], index) => {
      const element = at(location, index * bytes);
      const oldBits = loadBits(element, bytes);
      const updated = update(valueOfBits(oldBits, kind), valueB, valueC, location.space);
      storeBits(element, bytes, bitsOfValue(updated, kind, bytes * 8));
      writers[index]?.(context, lane, valueOfBits(oldBits, raw));
    });
  };
}

/** `exch` and `cas` of 128 bits, whose values are pairs of 64-bit registers. */
function atomic128(instruction: IrInstruction, fn: IrFunction, symbols: SymbolAddress): LaneEffect {
  const isSwap = instruction.modifiers.includes('cas');
  const [b = [], c = []] = instruction.sources
    .slice(1)
    .map((operand) => elementsOf(operand).map((element) => operandReader(element, 'b64', symbols)));
  const writers = elementsOf(first(instruction.destinations)).map((element) =>
    operandWriter(element, 'b64', fn),
  );
  const locate = locator(instruction, fn, symbols, 16, 'atomic');
  return (context, lane) => {
    const location = locate(context, lane);
    const halves = [location, at(location, 8)];
    const old = halves.map((half) => loadBits(half, 8));
    const values = [...b, ...c].map((read) => BigInt.asUintN(64, BigInt(read(context, lane))));
    const stores = !isSwap || (old[0] === values[0] && old[1] === values[1]);
    const given = isSwap ? values.slice(2) : values;
    if (stores) halves.forEach((half, index) => storeBits(half, 8, given[index] ?? 0n));
    writers.forEach((write, index) => write(context, lane, old[index] ?? 0n));
  };
}

function windowOf(space: string): bigint {
  if (space === 'shared') return BigInt(SHARED_WINDOW_BASE);
  if (space === 'param') return BigInt(PARAM_WINDOW_BASE);
  return space === 'local' ? BigInt(LOCAL_WINDOW_BASE) : 0n;
}

function convertAddress(instruction: IrInstruction, fn: IrFunction, symbols: SymbolAddress): LaneEffect {
  const base = windowOf(spaceOf(instruction.modifiers));
  const shift = instruction.modifiers.includes('to') ? -base : base;
  const read = operandReader(first(instruction.sources), 'u64', symbols);
  const write = operandWriter(first(instruction.destinations), 'u64', fn);
  return (context, lane) => write(context, lane, BigInt(read(context, lane)) + shift);
}

function isInSpace(instruction: IrInstruction, fn: IrFunction, symbols: SymbolAddress): LaneEffect {
  const space = spaceOf(instruction.modifiers);
  const read = operandReader(first(instruction.sources), 'u64', symbols);
  const write = operandWriter(first(instruction.destinations), 'pred', fn);
  const isOwn =
    space === 'shared' && !instruction.modifiers.includes('shared::cluster') && meetsInCluster(fn);
  return (context, lane) => {
    const address = Number(read(context, lane));
    const split = splitGeneric(address);
    const isThere =
      space === 'global'
        ? address >= GLOBAL_BASE
        : split.space === space &&
          (!isOwn || Math.floor(split.address / CLUSTER_RANK_STEP) === context.identity.clusterRank);
    write(context, lane, isThere ? 1 : 0);
  };
}

const RANK_BITS = 0xff00_0000n;

/** The same place in the shared memory of the block of another rank. */
function mapRank(instruction: IrInstruction, fn: IrFunction, symbols: SymbolAddress): LaneEffect {
  const kind = instruction.types[0] === 'u32' ? 'u32' : 'u64';
  const [address, rank = { kind: 'sink' } as const] = instruction.sources;
  const read = operandReader(address ?? rank, kind, symbols);
  const readRank = operandReader(rank, 'u32', symbols);
  const write = operandWriter(first(instruction.destinations), kind, fn);
  return (context, lane) => {
    const bits = BigInt(read(context, lane)) & ~RANK_BITS;
    const named = (BigInt(readRank(context, lane)) << BigInt(CLUSTER_RANK_SHIFT)) & RANK_BITS;
    write(context, lane, valueOfBits(bits | named, kind));
  };
}

/** The rank of the block whose shared memory an address is of. */
function rankOf(instruction: IrInstruction, fn: IrFunction, symbols: SymbolAddress): LaneEffect {
  const read = operandReader(
    first(instruction.sources),
    instruction.types[0] === 'u32' ? 'u32' : 'u64',
    symbols,
  );
  const write = operandWriter(first(instruction.destinations), 'u32', fn);
  return (context, lane) =>
    write(context, lane, Number((BigInt(read(context, lane)) & RANK_BITS) >> BigInt(CLUSTER_RANK_SHIFT)));
}
