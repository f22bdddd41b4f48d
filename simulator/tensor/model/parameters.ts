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
   * way. `end`: blocks are chained from nought, and it is added last, by an addition of its own that rounds to nearest.
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
  /** A result of f16 is rounded at once, or as an f32 first, which an instruction of its own then brings to the nearest f16. */
  readonly narrowing: 'atOnce' | 'after';
  readonly overflow: 'infinity' | 'largest';
  readonly subnormalInputs: 'kept' | 'flushed';
  readonly subnormalResults: 'kept' | 'flushed';
  /** What becomes of the 13 low bits of a tf32 operand. */
  readonly tf32: 'truncated' | 'nearest';
  /**
   * Whether a subnormal eighth has the exponent of its own type's smallest normal number, or is made a half first, in which it is
   * normal. Two of e5m2 are alike.
   */
  readonly eighths: 'own' | 'halves';
  /** Sign of a sum that is nought or is rounded to it: always +, or - where every term is negative or -0. */
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
   * `quiet`, `negativeQuiet`: always these bits. `payload`: of a NaN operand its own bits made quiet, of several those of B before
   * those of the sum so far before those of A; the negative quiet one of an invalid sum.
   */
  readonly nan: 'quiet' | 'negativeQuiet' | 'allOnes' | 'payload';
}

/**
 * f16 without a tensor core: the assembler makes multiply-adds of f32, each rounded to nearest. A block of products is a chain from its
 * first, blocks are added to the accumulator in turn, and the end is rounded to the result's type.
 */
export interface ScalarModel {
  readonly kind: 'scalar';
  readonly blockLength: number;
  /** A block begins with +0, to which its first product is added, or with that product itself: -0 stays what it is. */
  readonly start: 'nought' | 'product';
}

/** Integers and bits: exact, then wrapped, or clamped at the end or after every block. */
export interface IntegerModel {
  readonly kind: 'integer';
  readonly clamping: 'end' | 'blocks';
  readonly blockLength: number;
}

export type Model = FusedModel | ChainModel | ScalarModel | IntegerModel;

/** What a chain's form says besides. */
export interface ChainContext {
  readonly rounding: Rounding;
}
