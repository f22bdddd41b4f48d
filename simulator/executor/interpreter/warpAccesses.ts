import { isLoad, isSignedType, isStore, typeBits, typeBytes } from '../../ptx/index.js';
import type { IrFunction, IrInstruction, IrOperand, ScalarType } from '../../ptx/index.js';
import { spaceOf } from '../compiler/instructions/index.js';
import { forEachStoring, storingAtOnce } from '../lanePaths/index.js';
import { LaneFault } from './faults.js';
import { ownShared, type AccessKind, type LaneEffect, type MemoryContext } from './laneInstructions.js';
import { splitGeneric, type Location, type ResolvedSpace } from './memorySpaces.js';
import { addressColumn, addressReader, type SymbolAddress } from './operands.js';
import { lanesPerWarp } from './registerFile.js';
import type { WarpEffect } from './warpEffects.js';

/**
 * Loads and stores of registers, their bits moved as words: all lanes at once where they access one piece of memory, else
 * lane after lane, as the lanes' own effects do it.
 */
export function warpAccess(
  instruction: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
): WarpEffect | undefined {
  const type = instruction.types[0] ?? 'b32';
  if (type === 'pred' || type === 'b128') return undefined;
  const loads = !isStore(instruction.opcode);
  const registers = registersOf(loads ? instruction.destinations[0] : instruction.sources[1]);
  const [place] = instruction.sources;
  if (registers === undefined || place?.kind !== 'address') return undefined;
  const bytes = typeBytes(type);
  const fits = (register: number): boolean => {
    const bits = typeBits(fn.registers[register]?.type ?? 'b32');
    return bytes === 8 ? bits === 64 : bits <= 32;
  };
  if (!registers.every(fits)) return undefined;
  const transfers = registers.map((register, index) =>
    loads
      ? loader(register, type, fn, index * bytes)
      : storer(register, bytes, index * bytes, bytes * registers.length),
  );
  return access(place, fn, symbols, {
    written: spaceOf(instruction.modifiers),
    bytes: bytes * registers.length,
    kind: loads ? 'load' : 'store',
    transfers,
    requireOwn: ownShared(spaceOf(instruction.modifiers), instruction, fn),
  });
}

/** Checks where an access of memory goes, counts it and tells it, and moves nothing. */
export function warpPlace(
  instruction: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
): WarpEffect | undefined {
  const { opcode, sources, destinations, types, modifiers } = instruction;
  const [place] = sources;
  if (place?.kind !== 'address') return undefined;
  const loads = isLoad(opcode);
  const value = loads ? destinations[0] : sources[1];
  const elements = value?.kind === 'vector' ? value.elements.length : 1;
  return access(place, fn, symbols, {
    written: spaceOf(modifiers),
    bytes: typeBytes(types[0] ?? 'b32') * elements,
    kind: loads ? 'load' : isStore(opcode) ? 'store' : 'atomic',
    transfers: [],
    requireOwn: undefined,
  });
}

interface Access {
  /** The state space, or 'generic'. */
  readonly written: string;
  /** Of a lane. */
  readonly bytes: number;
  readonly kind: AccessKind;
  readonly transfers: readonly Transfer[];
  /** See `ownShared`. */
  readonly requireOwn: ReturnType<typeof ownShared>;
}

function access(
  place: IrOperand,
  fn: IrFunction,
  symbols: SymbolAddress,
  { written, bytes, kind, transfers, requireOwn }: Access,
): WarpEffect {
  const column = addressColumn(place, fn, symbols);
  const read = addressReader(place, fn, symbols);
  const address: typeof read =
    requireOwn === undefined
      ? read
      : (context, lane) => {
          const found = read(context, lane);
          requireOwn(context, found);
          return found;
        };
  // Generic addresses mostly are global ones; a `.const` variable is a read-only piece of global memory.
  const likely = written === 'generic' || written === 'const' ? 'global' : (written as ResolvedSpace);
  const addresses = new Float64Array(lanesPerWarp);
  const alone: LaneEffect = (context, lane) => {
    context.lane = lane;
    const location = locate(context, lane, written, address(context, lane), bytes, kind);
    NO_ADDRESSES[lane] = 0;
    for (const transfer of transfers) transfer(context, 1 << lane, location, NO_ADDRESSES);
  };
  const located = new Array<Location | undefined>(lanesPerWarp);
  /** All are checked and told in the order of the lanes before any stores. */
  const inOrder: WarpEffect = (context, lanes) => {
    for (let rest = lanes; rest !== 0; rest &= rest - 1) {
      const lane = 31 - Math.clz32(rest & -rest);
      context.lane = lane;
      located[lane] = locate(context, lane, written, address(context, lane), bytes, kind);
    }
    forEachStoring(lanes, bytes, (lane) => {
      const location = located[lane];
      if (location === undefined) return;
      NO_ADDRESSES[lane] = 0;
      for (const transfer of transfers) transfer(context, 1 << lane, location, NO_ADDRESSES);
    });
  };
  return (context, lanes) => {
    const together = column(context, lanes, addresses)
      ? context.locateTogether(lanes, likely, addresses, bytes, kind)
      : undefined;
    if (together !== undefined) {
      for (const transfer of transfers) transfer(context, lanes, together, addresses);
      return;
    }
    if (kind === 'store' && written !== 'local' && !areApart(context, lanes, address, bytes))
      inOrder(context, lanes);
    else for (let rest = lanes; rest !== 0; rest &= rest - 1) alone(context, 31 - Math.clz32(rest & -rest));
  };
}

/**
 * What lanes store, one after another: where they overwrite one another, in the order in which their stores take effect. Of
 * lanes that fault the lowest is told.
 */
export function storesInOrder(
  effect: LaneEffect,
  address: (context: MemoryContext, lane: number) => number,
  bytes: number,
): WarpEffect {
  return (context, lanes) => {
    if (areApart(context, lanes, address, bytes)) {
      for (let rest = lanes; rest !== 0; rest &= rest - 1) {
        const lane = 31 - Math.clz32(rest & -rest);
        context.lane = lane;
        effect(context, lane);
      }
      return;
    }
    let left = lanes;
    let fault: { readonly lane: number; readonly error: LaneFault } | undefined;
    forEachStoring(lanes, bytes, (lane) => {
      if (((left >>> lane) & 1) === 0) return;
      context.lane = lane;
      try {
        effect(context, lane);
      } catch (error) {
        if (!(error instanceof LaneFault)) throw error;
        fault = { lane, error };
        left &= (1 << lane) - 1;
      }
    });
    if (fault === undefined) return;
    context.lane = fault.lane;
    throw fault.error;
  };
}

const places = new Float64Array(lanesPerWarp);

/** Whether no two lanes access the same bytes. */
function areApart(
  context: MemoryContext,
  lanes: number,
  address: (context: MemoryContext, lane: number) => number,
  bytes: number,
): boolean {
  let count = 0;
  let ascends = true;
  for (let rest = lanes; rest !== 0; rest &= rest - 1) {
    const place = address(context, 31 - Math.clz32(rest & -rest));
    if (count > 0 && place < (places[count - 1] ?? 0) + bytes) ascends = false;
    places[count++] = place;
  }
  if (ascends) return true;
  const sorted = places.subarray(0, count).sort();
  return sorted.every((place, index) => index === 0 || place >= (sorted[index - 1] ?? 0) + bytes);
}

/** Where the location alone says where the bytes are. */
const NO_ADDRESSES = new Float64Array(lanesPerWarp);

function locate(
  context: MemoryContext,
  lane: number,
  written: string,
  address: number,
  bytes: number,
  kind: AccessKind,
): Location {
  if (written === 'generic') {
    const split = splitGeneric(address);
    return context.locate(lane, split.space, split.address, bytes, kind);
  }
  // A `.const` variable is a read-only piece of global memory.
  const space = written === 'const' ? 'global' : (written as ResolvedSpace);
  return context.locate(lane, space, address, bytes, kind);
}

/** Undefined unless every element is a register of its own. */
function registersOf(operand: IrOperand | undefined): number[] | undefined {
  const elements = operand?.kind === 'vector' ? operand.elements : operand === undefined ? [] : [operand];
  const registers: number[] = [];
  for (const element of elements) {
    if (element.kind !== 'register' || registers.includes(element.register)) return undefined;
    registers.push(element.register);
  }
  return registers.length === 0 ? undefined : registers;
}

/** Moves what lanes access between memory and a register; a lane's bytes lie at the location and its address from there. */
type Transfer = (context: MemoryContext, lanes: number, location: Location, addresses: Float64Array) => void;

function loader(register: number, type: ScalarType, fn: IrFunction, offset: number): Transfer {
  const base = register * lanesPerWarp;
  const bytes = typeBytes(type);
  const bits = typeBits(fn.registers[register]?.type ?? 'b32');
  const mask = bits >= 32 ? -1 : (1 << bits) - 1;
  const read = narrowReader(bytes, isSignedType(type));
  return ({ registers: { words } }, lanes, { view, at }, addresses) => {
    for (let rest = lanes; rest !== 0; rest &= rest - 1) {
      const lane = 31 - Math.clz32(rest & -rest);
      const from = at + (addresses[lane] ?? 0) + offset;
      if (bytes < 4) words[2 * (base + lane)] = read(view, from) & mask;
      else words[2 * (base + lane)] = view.getInt32(from, true) & mask;
      if (bytes === 8) words[2 * (base + lane) + 1] = view.getInt32(from + 4, true);
    }
  };
}

function narrowReader(bytes: number, isSigned: boolean): (view: DataView, at: number) => number {
  if (bytes === 2)
    return isSigned ? (view, at) => view.getInt16(at, true) : (view, at) => view.getUint16(at, true);
  return isSigned ? (view, at) => view.getInt8(at) : (view, at) => view.getUint8(at);
}

/** @param whole bytes of the instruction a lane */
function storer(register: number, bytes: number, offset: number, whole: number): Transfer {
  const base = register * lanesPerWarp;
  const turned = storingAtOnce(whole) - 1;
  return ({ registers: { words } }, lanes, { view, at }, addresses) => {
    for (let place = 0; place < lanesPerWarp; place++) {
      const lane = place ^ turned;
      if (((lanes >>> lane) & 1) === 0) continue;
      const word = words[2 * (base + lane)] ?? 0;
      const to = at + (addresses[lane] ?? 0) + offset;
      if (bytes === 2) view.setInt16(to, word, true);
      else if (bytes === 1) view.setInt8(to, word);
      else view.setInt32(to, word, true);
      if (bytes === 8) view.setInt32(to + 4, words[2 * (base + lane) + 1] ?? 0, true);
    }
  };
}
