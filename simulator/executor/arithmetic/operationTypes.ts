import type { ScalarType } from '../../ptx/index.js';

/** An operand's value. 64-bit integers are BigInt, predicates 0 or 1, everything else a number. */
export type Value = number | bigint;

/**
 * How a register's bits are read or written: signed and unsigned integers by value, `b16` and `b64` unsigned, `b32` as
 * int32, floats by value, packed halves as their 32 bits.
 */
export type ValueKind = ScalarType;

/** One operation as a pure function of the values of its operands. */
export interface ScalarOperation {
  readonly sources: readonly ValueKind[];
  readonly result: ValueKind;
  /** The result may exceed the width of its kind: writing wraps it. */
  readonly apply: (...values: Value[]) => Value;
  /** The second result of `setp p|q`. */
  readonly second?: (...values: Value[]) => Value;
}

/** What an operation's maker sees of an instruction. */
export interface OperationShape {
  readonly opcode: string;
  readonly type: ScalarType;
  readonly types: readonly ScalarType[];
  readonly bits: number;
  readonly isSigned: boolean;
  readonly has: (modifier: string) => boolean;
}

export type OperationMaker = (shape: OperationShape) => {
  readonly apply: ScalarOperation['apply'];
  readonly second?: ScalarOperation['apply'];
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
