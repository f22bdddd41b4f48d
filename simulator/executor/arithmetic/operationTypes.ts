import type { ScalarType } from '../../ptx/index.js';

/** An operand's value. 64-bit integers are BigInt, predicates 0 or 1, everything else a number. */
export type Value = number | bigint;

/**
 * How a register's bits are read or written: signed and unsigned integers by value, `b16` and `b64` unsigned, `b32` as
 * int32, f32 by value. Halves and doubles are operands as their bits (`b16`, `b32`, `b64`): a NaN's payload counts.
 */
export type ValueKind = ScalarType;

/** One operation as a pure function of the values of its operands. */
export interface ScalarOperation {
  /** Of the instruction's sources; one that reads the condition code has it behind them, as a predicate. */
  readonly sources: readonly ValueKind[];
  readonly result: ValueKind;
  /** The result may exceed the width of its kind: writing wraps it. */
  readonly apply: (...values: Value[]) => Value;
  /** Of f64 operations: the same on numbers, faster; a NaN that it gives says nothing of the bits. */
  readonly numbers?: (...values: number[]) => number;
  /** The second result of `setp p|q`. */
  readonly second?: (...values: Value[]) => Value;
  /** What the instruction leaves in the condition code, 0 or 1, when it writes it. */
  readonly carryOut?: (...values: Value[]) => Value;
}

/** What an operation's maker sees of an instruction. */
export interface OperationShape {
  readonly opcode: string;
  readonly type: ScalarType;
  readonly types: readonly ScalarType[];
  readonly modifiers: readonly string[];
  /** Parts of operands that a video instruction names, the written one first; '' for the whole. */
  readonly selectors: readonly string[];
  readonly bits: number;
  readonly isSigned: boolean;
  readonly has: (modifier: string) => boolean;
}

export type OperationMaker = (shape: OperationShape) => {
  readonly apply: ScalarOperation['apply'];
  readonly second?: ScalarOperation['apply'];
  readonly carryOut?: ScalarOperation['apply'];
  readonly numbers?: ScalarOperation['numbers'];
  /** Where the values are not read by the types of the instruction. */
  readonly sources?: readonly ValueKind[];
  readonly result?: ValueKind;
};

/** Lets a function of numbers, or of BigInts, stand as an operation: the kinds of its operands make sure of the types. */
export function numeric(apply: (...values: number[]) => number): ScalarOperation['apply'] {
  return apply as ScalarOperation['apply'];
}

export function big(apply: (...values: bigint[]) => bigint): ScalarOperation['apply'] {
  return apply as ScalarOperation['apply'];
}
