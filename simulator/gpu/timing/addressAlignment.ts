import { writtenRegisters, type IrFunction, type IrInstruction, type IrOperand } from '../../ptx/index.js';

/** What is known of a whole number: its remainder by a power of two. */
export interface Alignment {
  /** Power of two up to the widest load's bytes; 1 says nothing. */
  readonly modulus: number;
  readonly remainder: number;
}

const WIDEST_BYTES = 16;
const UNKNOWN: Alignment = { modulus: 1, remainder: 0 };

/**
 * What the code itself tells of each register's value, as the assembler must know it to join loads: variables start at
 * multiples of 16 bytes, and sums and products keep what both sides have. Undefined for what nothing writes.
 */
export function registerAlignments(fn: IrFunction): readonly (Alignment | undefined)[] {
  const known = fn.registers.map((): Alignment | undefined => undefined);
  for (let changed = true; changed;) {
    changed = false;
    for (const instruction of fn.instructions) {
      const result = resultOf(instruction, known);
      if (result === undefined) continue;
      for (const register of writtenRegisters(instruction)) {
        const before = known[register];
        const after = before === undefined ? result : common(before, result);
        if (before?.modulus === after.modulus && before.remainder === after.remainder) continue;
        known[register] = after;
        changed = true;
      }
    }
  }
  return known;
}

/** Undefined as long as an operand may still turn out to be anything. */
function resultOf(
  { opcode, modifiers, sources }: IrInstruction,
  known: readonly (Alignment | undefined)[],
): Alignment | undefined {
  const of = (index: number): Alignment | undefined => valueOf(sources[index], known);
  switch (opcode) {
    case 'mov':
    case 'cvta':
      return of(0);
    case 'cvt':
      return modifiers.some((each) => /f16|f32|f64/.test(each)) ? UNKNOWN : of(0);
    case 'add':
      return joined(of(0), of(1), sum);
    case 'sub':
      return joined(of(0), of(1), (a, b) => sum(a, negative(b)));
    case 'mul':
      return modifiers.includes('hi') ? UNKNOWN : joined(of(0), of(1), product);
    case 'mad':
      return modifiers.includes('hi') ? UNKNOWN : joined(joined(of(0), of(1), product), of(2), sum);
    case 'shl': {
      const [, by] = sources;
      if (by?.kind !== 'integer') return UNKNOWN;
      return joined(of(0), ofNumber(2 ** Math.min(by.low, 31)), product);
    }
    case 'or':
      // nvcc writes sums of parts that do not overlap so.
      return joined(of(0), of(1), sum);
    case 'selp':
      return joined(of(0), of(1), common);
    case 'and':
      return joined(of(0), of(1), masked);
    default:
      return UNKNOWN;
  }
}

function valueOf(
  operand: IrOperand | undefined,
  known: readonly (Alignment | undefined)[],
): Alignment | undefined {
  if (operand?.kind === 'register') return known[operand.register];
  if (operand?.kind === 'integer') return ofNumber(operand.low);
  if (operand?.kind === 'symbol') return ofNumber(operand.offset);
  return UNKNOWN;
}

function joined(
  a: Alignment | undefined,
  b: Alignment | undefined,
  join: (a: Alignment, b: Alignment) => Alignment,
): Alignment | undefined {
  return a === undefined || b === undefined ? undefined : join(a, b);
}

function ofNumber(value: number): Alignment {
  return { modulus: WIDEST_BYTES, remainder: remainderOf(value, WIDEST_BYTES) };
}

function sum(a: Alignment, b: Alignment): Alignment {
  const modulus = Math.min(a.modulus, b.modulus);
  return { modulus, remainder: remainderOf(a.remainder + b.remainder, modulus) };
}

function negative({ modulus, remainder }: Alignment): Alignment {
  return { modulus, remainder: remainderOf(-remainder, modulus) };
}

/** What (a + i m)(b + j n) is, whatever i and j are. */
function product(a: Alignment, b: Alignment): Alignment {
  const modulus = Math.min(
    WIDEST_BYTES,
    a.modulus * b.modulus,
    a.modulus * evenPart(b.remainder),
    b.modulus * evenPart(a.remainder),
  );
  return { modulus, remainder: remainderOf(a.remainder * b.remainder, modulus) };
}

/** A mask's lowest zeros are the result's. */
function masked(a: Alignment, b: Alignment): Alignment {
  const modulus = Math.max(zeros(a), zeros(b));
  return { modulus, remainder: 0 };
}

function zeros({ modulus, remainder }: Alignment): number {
  return Math.min(modulus, evenPart(remainder));
}

function common(a: Alignment, b: Alignment): Alignment {
  let modulus = Math.min(a.modulus, b.modulus);
  while ((a.remainder - b.remainder) % modulus !== 0) modulus /= 2;
  return { modulus, remainder: remainderOf(a.remainder, modulus) };
}

/** Largest power of two that divides it. */
function evenPart(value: number): number {
  return value === 0 ? WIDEST_BYTES : Math.min(WIDEST_BYTES, value & -value);
}

function remainderOf(value: number, modulus: number): number {
  return ((value % modulus) + modulus) % modulus;
}
