import type { IrFunction, IrInstruction, IrOperand, ScalarType } from '../../ptx/index.js';
import { typeBits, typeBytes } from '../../ptx/index.js';
import { bitsOfValue, scalarOperation, valueOfBits } from '../arithmetic/index.js';
import type { Value, ValueKind } from '../arithmetic/index.js';
import { spaceOf } from '../compiler/instructionClass.js';
import { GLOBAL_BASE, LOCAL_WINDOW_BASE, SHARED_WINDOW_BASE } from '../memory/index.js';
import { atomicUpdate } from './atomics.js';
import { LaneFault } from './faults.js';
import type { Location, ResolvedSpace } from './memorySpaces.js';
import { loadBits, splitGeneric, storeBits } from './memorySpaces.js';
import type { LaneContext, OperandReader, OperandWriter, SymbolAddress } from './operands.js';
import { addressReader, operandReader, operandWriter } from './operands.js';

export type AccessKind = 'load' | 'store' | 'atomic';

/** A lane with its memory. */
export interface MemoryContext extends LaneContext {
  /** Checks an access and finds its bytes. @throws LaneFault */
  locate(lane: number, space: ResolvedSpace, address: number, bytes: number, kind: AccessKind): Location;
  /** Lanes that step together. */
  readonly active: number;
}

/** What an instruction does for one lane. */
export type LaneEffect = (context: MemoryContext, lane: number) => void;

/** The effect of an instruction that lanes execute each for itself; undefined for all others. */
export function laneInstruction(
  instruction: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
): LaneEffect | undefined {
  switch (instruction.opcode) {
    case 'mov':
      return move(instruction, fn, symbols);
    case 'ld':
    case 'ldu':
      return load(instruction, fn, symbols);
    case 'st':
      return store(instruction, fn, symbols);
    case 'atom':
    case 'red':
      return atomic(instruction, fn, symbols);
    case 'cvta':
      return convertAddress(instruction, fn, symbols);
    case 'isspacep':
      return isInSpace(instruction, fn, symbols);
    case 'activemask': {
      const write = operandWriter(first(instruction.destinations), 'b32', fn);
      return (context, lane) => write(context, lane, context.active);
    }
    default:
      return scalar(instruction, fn, symbols);
  }
}

function first(operands: readonly IrOperand[]): IrOperand {
  const operand = operands[0];
  if (operand === undefined) throw new LaneFault('unsupportedInstruction', 'an operand is missing');
  return operand;
}

/** Bits of a type, whatever they mean: moves, loads and stores keep a NaN's payload. */
function rawKind(type: ScalarType): ValueKind {
  return type === 'pred' ? 'pred' : (`b${typeBits(type)}` as ValueKind);
}

function scalar(instruction: IrInstruction, fn: IrFunction, symbols: SymbolAddress): LaneEffect | undefined {
  const operation = scalarOperation(instruction);
  if (operation === undefined) return undefined;
  const readers = instruction.sources.map((operand, index) =>
    operandReader(operand, operation.sources[index] ?? 'b32', symbols),
  );
  const destination = first(instruction.destinations);
  const { apply, second, result } = operation;
  if (destination.kind === 'pair') {
    const writeFirst = operandWriter(destination.first, result, fn);
    const writeSecond = operandWriter(destination.second, result, fn);
    return (context, lane) => {
      const values = readers.map((read) => read(context, lane));
      writeFirst(context, lane, apply(...values));
      writeSecond(context, lane, second?.(...values) ?? 0);
    };
  }
  const write = operandWriter(destination, result, fn);
  return applyTo(readers, write, apply);
}

/** The common numbers of operands without an array for each lane. */
function applyTo(
  readers: readonly OperandReader[],
  write: OperandWriter,
  apply: (...values: Value[]) => Value,
): LaneEffect {
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
  return (context, lane) => context.locate(lane, space, address(context, lane), bytes, kind);
}

function elementsOf(operand: IrOperand): readonly IrOperand[] {
  return operand.kind === 'vector' ? operand.elements : [operand];
}

function at(location: Location, offset: number): Location {
  return offset === 0 ? location : { space: location.space, view: location.view, at: location.at + offset };
}

function load(instruction: IrInstruction, fn: IrFunction, symbols: SymbolAddress): LaneEffect {
  const type = instruction.types[0] ?? 'b32';
  const kind: ValueKind = type === 'f32' || type === 'f64' ? rawKind(type) : type;
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
  const kind = instruction.types[0] ?? 'b32';
  const bytes = typeBytes(kind);
  const update = atomicUpdate(instruction.modifiers, kind);
  const b = operandReader(instruction.sources[1] ?? { kind: 'sink' }, kind, symbols);
  const third = instruction.sources[2];
  const c = third === undefined ? b : operandReader(third, kind, symbols);
  const destination = instruction.destinations[0];
  const write =
    destination === undefined
      ? undefined
      : operandWriter(destination, kind === 'f32' ? 'b32' : rawKind(kind), fn);
  const locate = locator(instruction, fn, symbols, bytes, 'atomic');
  return (context, lane) => {
    const location = locate(context, lane);
    const oldBits = loadBits(location, bytes);
    const updated = update(valueOfBits(oldBits, kind), b(context, lane), c(context, lane), location.space);
    storeBits(location, bytes, bitsOfValue(updated, kind, bytes * 8));
    write?.(context, lane, valueOfBits(oldBits, rawKind(kind)));
  };
}

function windowOf(space: string): bigint {
  if (space === 'shared') return BigInt(SHARED_WINDOW_BASE);
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
  return (context, lane) => {
    const address = Number(read(context, lane));
    const isThere = space === 'global' ? address >= GLOBAL_BASE : splitGeneric(address).space === space;
    write(context, lane, isThere ? 1 : 0);
  };
}
