/**
 * Exact binary floating point by definition: a value is `sign · significand · 2^exponent` with a BigInt significand, and
 * one function rounds it to any format in any direction. Slow and plain; the fast paths are tested against it.
 */
export type Rounding = 'nearestEven' | 'towardZero' | 'towardNegative' | 'towardPositive';

export interface FloatFormat {
  /** Bits of the significand, the hidden one included. */
  readonly precision: number;
  readonly exponentBits: number;
}

export const binary16: FloatFormat = { precision: 11, exponentBits: 5 };
export const bfloat16: FloatFormat = { precision: 8, exponentBits: 8 };
export const binary32: FloatFormat = { precision: 24, exponentBits: 8 };
export const binary64: FloatFormat = { precision: 53, exponentBits: 11 };

/** A finite number. `negative` matters for zero. */
export interface Exact {
  readonly negative: boolean;
  readonly significand: bigint;
  readonly exponent: number;
}

const scratch = new DataView(new ArrayBuffer(8));

/** A finite double as an exact value. */
export function exactOf(value: number): Exact {
  scratch.setFloat64(0, value);
  const bits = scratch.getBigUint64(0);
  const negative = bits >> 63n === 1n;
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  if (biased === 0) return { negative, significand: fraction, exponent: -1074 };
  return { negative, significand: fraction | (1n << 52n), exponent: biased - 1075 };
}

function signed(value: Exact): bigint {
  return value.negative ? -value.significand : value.significand;
}

/** Sum of two exact values. `negativeZero` tells the sign of a sum that cancels. */
export function addExact(a: Exact, b: Exact, negativeZero: boolean): Exact {
  const exponent = Math.min(a.exponent, b.exponent);
  const sum = (signed(a) << BigInt(a.exponent - exponent)) + (signed(b) << BigInt(b.exponent - exponent));
  if (sum === 0n) return { negative: negativeZero, significand: 0n, exponent };
  return { negative: sum < 0n, significand: sum < 0n ? -sum : sum, exponent };
}

export function multiplyExact(a: Exact, b: Exact): Exact {
  return {
    negative: a.negative !== b.negative,
    significand: a.significand * b.significand,
    exponent: a.exponent + b.exponent,
  };
}

/** A quotient to 64 bits beyond `precision`, with a sticky last bit: it rounds as the exact one does. `b` is not zero. */
export function divideSticky(a: Exact, b: Exact, precision: number): Exact {
  const width = bitLength(b.significand) - bitLength(a.significand) + precision + 64;
  const shift = Math.max(width, 0);
  const numerator = a.significand << BigInt(shift);
  const quotient = numerator / b.significand;
  const sticky = numerator % b.significand === 0n ? 0n : 1n;
  return {
    negative: a.negative !== b.negative,
    significand: (quotient << 1n) | sticky,
    exponent: a.exponent - b.exponent - shift - 1,
  };
}

/** A square root to 64 bits beyond `precision`, with a sticky last bit. `a` is not negative. */
export function rootSticky(a: Exact, precision: number): Exact {
  let shift = Math.max(2 * precision + 128 - bitLength(a.significand), 0);
  if ((a.exponent - shift) % 2 !== 0) shift++;
  const radicand = a.significand << BigInt(shift);
  const root = integerRoot(radicand);
  const sticky = root * root === radicand ? 0n : 1n;
  return { negative: a.negative, significand: (root << 1n) | sticky, exponent: (a.exponent - shift) / 2 - 1 };
}

function integerRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let guess = 1n << BigInt((bitLength(value) + 1) >> 1);
  for (;;) {
    const next = (guess + value / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}

function bitLength(value: bigint): number {
  return value === 0n ? 0 : value.toString(2).length;
}

function roundsUp(
  rounding: Rounding,
  negative: boolean,
  isOdd: boolean,
  rest: bigint,
  half: bigint,
): boolean {
  switch (rounding) {
    case 'nearestEven':
      return rest > half || (rest === half && isOdd);
    case 'towardZero':
      return false;
    case 'towardNegative':
      return negative && rest > 0n;
    case 'towardPositive':
      return !negative && rest > 0n;
  }
}

/** Rounds an exact value to a format, subnormals and overflow as IEEE 754 has them. @returns the bits of the result */
export function roundToBits(value: Exact, format: FloatFormat, rounding: Rounding): bigint {
  const { precision, exponentBits } = format;
  const bias = (1 << (exponentBits - 1)) - 1;
  const leastExponent = 1 - bias - (precision - 1);
  const sign = value.negative ? 1n << BigInt(precision - 1 + exponentBits) : 0n;
  if (value.significand === 0n) return sign;
  const exponent = Math.max(value.exponent + bitLength(value.significand) - precision, leastExponent);
  const shift = exponent - value.exponent;
  let kept = shift > 0 ? value.significand >> BigInt(shift) : value.significand << BigInt(-shift);
  if (shift > 0) {
    const rest = value.significand - (kept << BigInt(shift));
    if (roundsUp(rounding, value.negative, (kept & 1n) === 1n, rest, 1n << BigInt(shift - 1))) kept += 1n;
  }
  // A carry out of the significand lands in the exponent field by itself.
  const magnitude = kept + (BigInt(exponent - leastExponent) << BigInt(precision - 1));
  const infinity = ((1n << BigInt(exponentBits)) - 1n) << BigInt(precision - 1);
  if (magnitude < infinity) return sign | magnitude;
  const away =
    rounding === 'nearestEven' ||
    (rounding === 'towardPositive' && !value.negative) ||
    (rounding === 'towardNegative' && value.negative);
  return sign | (away ? infinity : infinity - 1n);
}

/** Rounds to f32 or f64 and gives the number. */
export function roundToNumber(value: Exact, format: FloatFormat, rounding: Rounding): number {
  const bits = roundToBits(value, format, rounding);
  if (format === binary64) {
    scratch.setBigUint64(0, bits);
    return scratch.getFloat64(0);
  }
  if (format === binary32) {
    scratch.setUint32(0, Number(bits));
    return scratch.getFloat32(0);
  }
  throw new RangeError('only binary32 and binary64 are numbers here');
}
