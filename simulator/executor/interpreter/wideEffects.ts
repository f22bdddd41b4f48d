import { typeBits } from '../../ptx/index.js';
import type { IrFunction, IrInstruction, IrOperand, ScalarType } from '../../ptx/index.js';
import { spaceOf } from '../compiler/instructions/index.js';
import type { MemoryContext } from './laneInstructions.js';
import type { SymbolAddress } from './operands.js';
import { lanesPerWarp } from './registerFile.js';
import type { WarpEffect } from './warpEffects.js';

/** 64 bits by lane, in two words. It is faster to make those of lanes that do not take part, too, than to look who does. */
class Wide {
  readonly low = new Int32Array(lanesPerWarp);
  readonly high = new Int32Array(lanesPerWarp);
}

type WideColumn = (context: MemoryContext) => Wide;

const scratch = [new Wide(), new Wide(), new Wide()] as const;
const results = new Wide();
const WORD = 2 ** 32;

/** The 64-bit integer operations that addresses are made with, by words: BigInts take the host far longer. */
export function wideEffect(
  instruction: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
): WarpEffect | undefined {
  const { opcode, modifiers, types, destinations, sources } = instruction;
  const [destination] = destinations;
  if (destination?.kind !== 'register' || destinations.length > 1) return undefined;
  if (typeBits(fn.registers[destination.register]?.type ?? 'b32') !== 64) return undefined;
  const write = writer(destination.register);
  const [a, b, c] = sources;
  const type = types.at(-1) ?? 'b32';
  const isWide = typeBits(type) === 64 && !type.startsWith('f');
  // The types stand among the modifiers, too.
  const options = modifiers.filter((modifier) => !types.some((each) => each === modifier));
  switch (opcode) {
    case 'mov':
      return isWide || type === 'f64' ? moved(wideColumn(a, symbols, scratch[0]), write) : undefined;
    case 'cvta':
      return spaceOf(modifiers) === 'global' ? moved(wideColumn(a, symbols, scratch[0]), write) : undefined;
    case 'add':
    case 'sub':
      if (!isWide || options.length > 0) return undefined;
      return summed(wideColumn(a, symbols, scratch[0]), wideColumn(b, symbols, scratch[1]), opcode, write);
    case 'shl':
      if (b?.kind !== 'integer' || b.high !== 0 || b.low < 0 || b.low > 63 || !isWide) return undefined;
      return shifted(wideColumn(a, symbols, scratch[0]), b.low, write);
    case 'cvt':
      return types.length === 2 && options.length === 0
        ? moved(widened(a, types, scratch[0]), write)
        : undefined;
    case 'mul':
    case 'mad': {
      if (options.length !== 1 || options[0] !== 'wide' || typeBits(type) !== 32) return undefined;
      const isSigned = type === 's32';
      const product = multiplied(a, b, isSigned, scratch[0]);
      if (opcode === 'mul') return moved(product, write);
      return summed(product, wideColumn(c, symbols, scratch[1]), 'add', write);
    }
    default:
      return undefined;
  }
}

function wideColumn(
  operand: IrOperand | undefined,
  symbols: SymbolAddress,
  into: Wide,
): WideColumn | undefined {
  if (operand?.kind === 'register') {
    const base = operand.register * lanesPerWarp;
    const { low, high } = into;
    return ({ registers: { words } }) => {
      for (let lane = 0; lane < lanesPerWarp; lane++) {
        low[lane] = words[2 * (base + lane)] ?? 0;
        high[lane] = words[2 * (base + lane) + 1] ?? 0;
      }
      return into;
    };
  }
  const words = constantWords(operand, symbols);
  if (words === undefined) return undefined;
  const constant = new Wide();
  constant.low.fill(words.low);
  constant.high.fill(words.high);
  return () => constant;
}

function constantWords(
  operand: IrOperand | undefined,
  symbols: SymbolAddress,
): { low: number; high: number } | undefined {
  if (operand?.kind === 'integer' || operand?.kind === 'float') return operand;
  if (operand?.kind !== 'symbol' || symbols.isRanked?.(operand.name) === true) return undefined;
  const address = symbols(operand.name);
  if (address === undefined) return undefined;
  const value = address + operand.offset;
  return { low: (value % WORD) | 0, high: Math.floor(value / WORD) | 0 };
}

/** Products of 32-bit values, 64 bits of them. */
function multiplied(
  a: IrOperand | undefined,
  b: IrOperand | undefined,
  isSigned: boolean,
  into: Wide,
): WideColumn | undefined {
  const first = narrowWords(a);
  const second = narrowWords(b);
  if (first === undefined || second === undefined) return undefined;
  return ({ registers: { words } }) => {
    for (let lane = 0; lane < lanesPerWarp; lane++) {
      const x = first.base < 0 ? first.value : (words[2 * (first.base + lane)] ?? 0);
      const y = second.base < 0 ? second.value : (words[2 * (second.base + lane)] ?? 0);
      const product = isSigned ? x * y : (x >>> 0) * (y >>> 0);
      const low = Math.imul(x, y);
      into.low[lane] = low;
      // What the product was rounded by is far less than a unit of its high word.
      into.high[lane] = Math.round((product - (low >>> 0)) / WORD) | 0;
    }
    return into;
  };
}

/** A 32-bit integer as one of 64 bits. @param types of the result and the operand */
function widened(a: IrOperand | undefined, types: readonly ScalarType[], into: Wide): WideColumn | undefined {
  const [to, from] = types;
  const isInteger = /^[su]64$/.test(to) && /^[su]32$/.test(from);
  if (!isInteger || a?.kind !== 'register') return undefined;
  const base = a.register * lanesPerWarp;
  const isSigned = from === 's32';
  return ({ registers: { words } }) => {
    for (let lane = 0; lane < lanesPerWarp; lane++) {
      const low = words[2 * (base + lane)] ?? 0;
      into.low[lane] = low;
      into.high[lane] = isSigned ? low >> 31 : 0;
    }
    return into;
  };
}

/** Where a register's words begin, or a constant. */
function narrowWords(operand: IrOperand | undefined): { base: number; value: number } | undefined {
  if (operand?.kind === 'register') return { base: operand.register * lanesPerWarp, value: 0 };
  return operand?.kind === 'integer' ? { base: -1, value: operand.low | 0 } : undefined;
}

type Write = (context: MemoryContext, lanes: number, value: Wide) => void;

function writer(register: number): Write {
  const base = register * lanesPerWarp;
  return ({ registers: { words } }, lanes, { low, high }) => {
    if (lanes === -1) {
      for (let lane = 0; lane < lanesPerWarp; lane++) {
        words[2 * (base + lane)] = low[lane] ?? 0;
        words[2 * (base + lane) + 1] = high[lane] ?? 0;
      }
      return;
    }
    for (let rest = lanes; rest !== 0; rest &= rest - 1) {
      const lane = 31 - Math.clz32(rest & -rest);
      words[2 * (base + lane)] = low[lane] ?? 0;
      words[2 * (base + lane) + 1] = high[lane] ?? 0;
    }
  };
}

function moved(value: WideColumn | undefined, write: Write): WarpEffect | undefined {
  if (value === undefined) return undefined;
  return (context, lanes) => write(context, lanes, value(context));
}

function summed(
  first: WideColumn | undefined,
  second: WideColumn | undefined,
  opcode: 'add' | 'sub',
  write: Write,
): WarpEffect | undefined {
  if (first === undefined || second === undefined) return undefined;
  const isSum = opcode === 'add';
  return (context, lanes) => {
    const a = first(context);
    const b = second(context);
    for (let lane = 0; lane < lanesPerWarp; lane++) {
      const low = a.low[lane] ?? 0;
      const more = b.low[lane] ?? 0;
      const high = a.high[lane] ?? 0;
      const moreHigh = b.high[lane] ?? 0;
      if (isSum) {
        const sum = (low >>> 0) + (more >>> 0);
        results.low[lane] = sum | 0;
        results.high[lane] = (high + moreHigh + (sum >= WORD ? 1 : 0)) | 0;
      } else {
        results.low[lane] = (low - more) | 0;
        results.high[lane] = (high - moreHigh - (low >>> 0 < more >>> 0 ? 1 : 0)) | 0;
      }
    }
    write(context, lanes, results);
  };
}

function shifted(value: WideColumn | undefined, by: number, write: Write): WarpEffect | undefined {
  if (value === undefined) return undefined;
  return (context, lanes) => {
    const { low, high } = value(context);
    for (let lane = 0; lane < lanesPerWarp; lane++) {
      const least = low[lane] ?? 0;
      if (by >= 32) {
        results.low[lane] = 0;
        results.high[lane] = least << (by - 32);
      } else {
        results.low[lane] = least << by;
        results.high[lane] = by === 0 ? (high[lane] ?? 0) : ((high[lane] ?? 0) << by) | (least >>> (32 - by));
      }
    }
    write(context, lanes, results);
  };
}
