import type { Rounding } from '../forms/index.js';

/**
 * How a tensor core adds the products of a row and a column to an accumulator. Products are exact. Those of a block, with or without the
 * accumulator, are brought to the largest exponent among them, cut to so many bits, added as integers, and the sum is rounded.
 */
export interface FusedModel {
  readonly kind: 'fused';
  /** Products that are added at once. */
  readonly blockLength: number;
  /**
   * Which products are a block. `neighbours`: k, k + 1, …; `turns`: of b blocks every b-th; `pairs`: two neighbours to each block in
   * turn; `fours`: four.
   */
  readonly dealing: 'neighbours' | 'turns' | 'pairs' | 'fours';
  readonly blockOrder: 'ascending' | 'descending';
  /**
   * `fused`: it is a term of every block's sum. `after`: a block's products are added by themselves, and the two sums then in the same
   * way. `end`: blocks are chained from nought, and it is added last.
   */
  readonly accumulator: 'fused' | 'after' | 'end';
  /** Bits that a term keeps below the place of the largest exponent. */
  readonly fractionBits: number;
  /** Exponent of a product: the sum of its factors' (its significand is below 4), or that of its leading bit. */
  readonly alignment: 'unnormalised' | 'normalised';
  /** Whether a product that is nought takes part in the largest exponent, with its factors' exponents. */
  readonly zeroProducts: 'ignored' | 'counted';
  /** What becomes of bits below those that are kept, of each term by itself. */
  readonly cut: 'truncate' | 'floor' | 'nearest';
  /** Rounding of a block's sum to the result's type, or to fewer bits. */
  readonly rounding: 'rz' | 'rn';
  /** Fraction bits of a result of f32: 23, or 13 where eighths are added in a narrow unit. */
  readonly resultBits: number;
  /** What is handed from block to block where results are f16: f16, or an f32 that is rounded once at the end. */
  readonly between: 'result' | 'f32';
  readonly overflow: 'infinity' | 'largest';
  readonly subnormalInputs: 'kept' | 'flushed';
  readonly subnormalResults: 'kept' | 'flushed';
  /** What becomes of the 13 low bits of a tf32 operand. */
  readonly tf32: 'truncated' | 'nearest';
  /** Sign of a sum that is nought: always +, or - where every term is negative or -0. */
  readonly zeroSign: 'positive' | 'allNegative';
  /** Bits of a NaN: all but the sign, or the quiet one. */
  readonly nan: 'allOnes' | 'quiet';
}

/** f64: blocks of exact sums, each rounded once; a block of one is a chain of fused multiply-adds. */
export interface ChainModel {
  readonly kind: 'chain';
  readonly blockLength: number;
  readonly order: 'ascending' | 'descending';
  /** Where the accumulator enters. */
  readonly accumulator: 'first' | 'end';
  /**
   * `quiet`, `negativeQuiet`: always these bits. `payload`: of a NaN operand its own bits made quiet, of several those of the
   * accumulator so far before B before A (`lastFirst`) or A before B before the accumulator; the negative quiet one of an invalid sum.
   */
  readonly nan: 'quiet' | 'negativeQuiet' | 'allOnes' | 'payload' | 'payloadLastFirst';
}

/** Integers and bits: exact, then wrapped, or clamped at the end or after every block. */
export interface IntegerModel {
  readonly kind: 'integer';
  readonly clamping: 'end' | 'blocks';
  readonly blockLength: number;
}

export type Model = FusedModel | ChainModel | IntegerModel;

/** What a chain's form says besides. */
export interface ChainContext {
  readonly rounding: Rounding;
}
