import { isSignedType, typeBits, typeBytes } from '../../ptx/index.js';
import type { IrFunction, IrInstruction, IrOperand, ScalarType } from '../../ptx/index.js';
import { spaceOf } from '../compiler/instructionClass.js';
import type { MemoryContext } from './laneInstructions.js';
import { splitGeneric, type Location, type ResolvedSpace } from './memorySpaces.js';
import { addressReader, type SymbolAddress } from './operands.js';
import { lanesPerWarp } from './registerFile.js';
import type { WarpEffect } from './warpEffects.js';

/** Loads and stores of registers, their bits moved as words: lane after lane, as the lanes' own effects do it. */
export function warpAccess(
  instruction: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
): WarpEffect | undefined {
  const type = instruction.types[0] ?? 'b32';
  if (type === 'pred' || type === 'b128') return undefined;
  const isLoad = instruction.opcode !== 'st';
  const registers = registersOf(isLoad ? instruction.destinations[0] : instruction.sources[1]);
  const [place] = instruction.sources;
  if (registers === undefined || place?.kind !== 'address') return undefined;
  const bytes = typeBytes(type);
  const fits = (register: number): boolean => {
    const bits = typeBits(fn.registers[register]?.type ?? 'b32');
    return bytes === 8 ? bits === 64 : bits <= 32;
  };
  if (!registers.every(fits)) return undefined;
  const transfers = registers.map((register, index) =>
    isLoad ? loader(register, type, fn, index * bytes) : storer(register, bytes, index * bytes),
  );
  const written = spaceOf(instruction.modifiers);
  const all = bytes * registers.length;
  const kind = isLoad ? 'load' : 'store';
  const address = addressReader(place, fn, symbols);
  const [only] = transfers;
  return (context, lanes) => {
    for (let rest = lanes; rest !== 0; rest &= rest - 1) {
      const lane = 31 - Math.clz32(rest & -rest);
      context.lane = lane;
      const at = address(context, lane);
      const location = locate(context, lane, written, at, all, kind);
      if (transfers.length === 1) only?.(context, lane, location);
      else for (const transfer of transfers) transfer(context, lane, location);
    }
  };
}

function locate(
  context: MemoryContext,
  lane: number,
  written: string,
  address: number,
  bytes: number,
  kind: 'load' | 'store',
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

type Transfer = (context: MemoryContext, lane: number, location: Location) => void;

function loader(register: number, type: ScalarType, fn: IrFunction, offset: number): Transfer {
  const base = register * lanesPerWarp;
  const isSigned = isSignedType(type);
  const bits = typeBits(fn.registers[register]?.type ?? 'b32');
  const mask = bits >= 32 ? -1 : (1 << bits) - 1;
  switch (typeBytes(type)) {
    case 8:
      return ({ registers: { words } }, lane, { view, at }) => {
        words[2 * (base + lane)] = view.getInt32(at + offset, true);
        words[2 * (base + lane) + 1] = view.getInt32(at + offset + 4, true);
      };
    case 4:
      return ({ registers: { words } }, lane, { view, at }) => {
        words[2 * (base + lane)] = view.getInt32(at + offset, true) & mask;
      };
    case 2:
      return ({ registers: { words } }, lane, { view, at }) => {
        const value = isSigned ? view.getInt16(at + offset, true) : view.getUint16(at + offset, true);
        words[2 * (base + lane)] = value & mask;
      };
    default:
      return ({ registers: { words } }, lane, { view, at }) => {
        words[2 * (base + lane)] = (isSigned ? view.getInt8(at + offset) : view.getUint8(at + offset)) & mask;
      };
  }
}

function storer(register: number, bytes: number, offset: number): Transfer {
  const base = register * lanesPerWarp;
  return ({ registers: { words } }, lane, { view, at }) => {
    const word = words[2 * (base + lane)] ?? 0;
    if (bytes === 4) view.setInt32(at + offset, word, true);
    else if (bytes === 2) view.setInt16(at + offset, word, true);
    else if (bytes === 1) view.setInt8(at + offset, word);
    else {
      view.setInt32(at + offset, word, true);
      view.setInt32(at + offset + 4, words[2 * (base + lane) + 1] ?? 0, true);
    }
  };
}
