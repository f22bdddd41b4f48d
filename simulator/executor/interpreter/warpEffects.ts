import { isa, isLoad, isSignedType, isStore, typeBits } from '../../ptx/index.js';
import type { IrFunction, IrInstruction, IrOperand, ScalarType } from '../../ptx/index.js';
import { canonicalNan32, scalarOperation } from '../arithmetic/index.js';
import type { Value, ValueKind } from '../arithmetic/index.js';
import type { MemoryContext } from './laneInstructions.js';
import type { SymbolAddress } from './operands.js';
import { operandReader } from './operands.js';
import { lanesPerWarp } from './registerFile.js';
import { warpAccess } from './warpAccesses.js';
import { wordEffect } from './wordEffects.js';
import { wideEffect } from './wideEffects.js';

/** What an instruction does for all lanes of a mask: for each of them what its effect by lane does, bit for bit. */
export type WarpEffect = (context: MemoryContext, lanes: number) => void;

/** Of the instructions that kernels are full of; undefined for others, which go lane by lane. */
export function warpEffect(
  instruction: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
): WarpEffect | undefined {
  if (instruction.carry !== undefined || instruction.destinations[0]?.kind === 'pair') return undefined;
  if (isLoad(instruction.opcode) || isStore(instruction.opcode)) return warpAccess(instruction, fn, symbols);
  return (
    wideEffect(instruction, fn, symbols) ??
    wordEffect(instruction, fn) ??
    numberEffect(instruction, fn, symbols)
  );
}

/** An operand's values by lane; those of lanes outside the mask mean nothing. */
type Column = (context: MemoryContext, lanes: number) => Float64Array;

const scratch = [0, 1, 2].map(() => new Float64Array(lanesPerWarp));
const results = new Float64Array(lanesPerWarp);

/** Operations on numbers, and moves of them. */
function numberEffect(
  instruction: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
): WarpEffect | undefined {
  const [destination] = instruction.destinations;
  if (destination?.kind !== 'register' || instruction.destinations.length > 1) return undefined;
  const registerType = fn.registers[destination.register]?.type ?? 'b32';
  if (typeBits(registerType) > 32) return undefined;
  const operation = operationOf(instruction);
  if (operation === undefined || !isNumber(operation.result)) return undefined;
  const columns: Column[] = [];
  for (const [index, source] of instruction.sources.entries()) {
    const kind = operation.sources[index] ?? 'b32';
    // Of several operands a clock must be read in the order of the lanes.
    const isOrdered = source.kind === 'special' && instruction.sources.length > 1;
    if (isOrdered || !isNumber(kind)) return undefined;
    const column = columnOf(source, kind, symbols, scratch[index]);
    if (column === undefined) return undefined;
    columns.push(column);
  }
  const write = columnWriter(destination.register, registerType, operation.result);
  return applied(columns, operation.apply, write);
}

function operationOf(
  instruction: IrInstruction,
): { sources: readonly ValueKind[]; result: ValueKind; apply: (...values: Value[]) => Value } | undefined {
  if (!isa(instruction.opcode).syntax.isMove) return scalarOperation(instruction);
  const type = instruction.types[0] ?? 'b32';
  const kind = type === 'pred' ? 'pred' : (`b${typeBits(type)}` as ValueKind);
  return { sources: [kind], result: kind, apply: (value) => value };
}

/** Whose values are numbers; those of half-precision kinds go through conversions, lane by lane. */
function isNumber(kind: ValueKind): boolean {
  return typeBits(kind) <= 32 && kind !== 'f16' && kind !== 'bf16';
}

function columnOf(
  operand: IrOperand,
  kind: ValueKind,
  symbols: SymbolAddress,
  into: Float64Array | undefined,
): Column | undefined {
  if (into === undefined) return undefined;
  switch (operand.kind) {
    case 'register': {
      const base = operand.register * lanesPerWarp;
      if (kind === 'f32') {
        return ({ registers: { singles } }, lanes) => {
          for (let rest = lanes; rest !== 0; rest &= rest - 1) {
            const lane = 31 - Math.clz32(rest & -rest);
            into[lane] = singles[2 * (base + lane)] ?? 0;
          }
          return into;
        };
      }
      if (typeBits(kind) === 32) {
        const isUnsigned = kind === 'u32';
        return ({ registers: { words } }, lanes) => {
          for (let rest = lanes; rest !== 0; rest &= rest - 1) {
            const lane = 31 - Math.clz32(rest & -rest);
            const word = words[2 * (base + lane)] ?? 0;
            into[lane] = isUnsigned ? word >>> 0 : word;
          }
          return into;
        };
      }
      break;
    }
    case 'integer':
    case 'float': {
      const read = operandReader(operand, kind, symbols);
      let constant: Float64Array | undefined;
      return (context) => (constant ??= new Float64Array(lanesPerWarp).fill(Number(read(context, 0))));
    }
    case 'negatedPredicate':
    case 'special':
    case 'symbol':
      break;
    case 'address':
    case 'label':
    case 'pair':
    case 'sink':
    case 'vector':
      return undefined;
  }
  const read = operandReader(operand, kind, symbols);
  return (context, lanes) => {
    for (let rest = lanes; rest !== 0; rest &= rest - 1) {
      const lane = 31 - Math.clz32(rest & -rest);
      into[lane] = Number(read(context, lane));
    }
    return into;
  };
}

function applied(
  columns: readonly Column[],
  apply: (...values: Value[]) => Value,
  write: (context: MemoryContext, lanes: number, values: Float64Array) => void,
): WarpEffect | undefined {
  const [first, second, third] = columns;
  if (columns.length > 3 || first === undefined) return undefined;
  if (second === undefined) {
    return (context, lanes) => {
      const a = first(context, lanes);
      for (let rest = lanes; rest !== 0; rest &= rest - 1) {
        const lane = 31 - Math.clz32(rest & -rest);
        results[lane] = Number(apply(a[lane] ?? 0));
      }
      write(context, lanes, results);
    };
  }
  if (third === undefined) {
    return (context, lanes) => {
      const a = first(context, lanes);
      const b = second(context, lanes);
      for (let rest = lanes; rest !== 0; rest &= rest - 1) {
        const lane = 31 - Math.clz32(rest & -rest);
        results[lane] = Number(apply(a[lane] ?? 0, b[lane] ?? 0));
      }
      write(context, lanes, results);
    };
  }
  return (context, lanes) => {
    const a = first(context, lanes);
    const b = second(context, lanes);
    const c = third(context, lanes);
    for (let rest = lanes; rest !== 0; rest &= rest - 1) {
      const lane = 31 - Math.clz32(rest & -rest);
      results[lane] = Number(apply(a[lane] ?? 0, b[lane] ?? 0, c[lane] ?? 0));
    }
    write(context, lanes, results);
  };
}

/** As `registerWriter`, of registers of at most 32 bits. */
function columnWriter(
  register: number,
  registerType: ScalarType,
  kind: ValueKind,
): (context: MemoryContext, lanes: number, values: Float64Array) => void {
  const base = register * lanesPerWarp;
  if (kind === 'f32') {
    return ({ registers: { singles, words } }, lanes, values) => {
      for (let rest = lanes; rest !== 0; rest &= rest - 1) {
        const lane = 31 - Math.clz32(rest & -rest);
        const value = values[lane] ?? 0;
        if (value !== value) words[2 * (base + lane)] = canonicalNan32;
        else singles[2 * (base + lane)] = value;
      }
    };
  }
  const bits = typeBits(kind);
  const isSigned = isSignedType(kind);
  const registerBits = typeBits(registerType);
  const mask = registerBits === 32 ? -1 : (1 << registerBits) - 1;
  const shift = 32 - Math.min(32, bits);
  return ({ registers: { words } }, lanes, values) => {
    for (let rest = lanes; rest !== 0; rest &= rest - 1) {
      const lane = 31 - Math.clz32(rest & -rest);
      const high = (values[lane] ?? 0) << shift;
      words[2 * (base + lane)] = (isSigned ? high >> shift : high >>> shift) & mask;
    }
  };
}
