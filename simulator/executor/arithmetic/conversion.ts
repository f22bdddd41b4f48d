import type { Rounding } from './floatFormat.js';
import { binary32, binary64, roundToNumber } from './floatFormat.js';

/** Rounds a double to an integer value, as `.rni .rzi .rmi .rpi` do. Infinities and NaN stay. */
export function toIntegral(value: number, rounding: Rounding): number {
  switch (rounding) {
    case 'towardZero':
      return Math.trunc(value);
    case 'towardNegative':
      return Math.floor(value);
    case 'towardPositive':
      return Math.ceil(value);
    case 'nearestEven': {
      // Beyond 2^52 every double is an integer; below it, adding and taking 2^52 away rounds to even.
      if (!(Math.abs(value) < 2 ** 52)) return value;
      const rounded = Math.abs(value) + 2 ** 52 - 2 ** 52;
      return value < 0 || Object.is(value, -0) ? -rounded : rounded;
    }
  }
}

/** Range of an integer type, as BigInt. */
export function integerRange(bits: number, isSigned: boolean): { least: bigint; greatest: bigint } {
  return isSigned
    ? { least: -(1n << BigInt(bits - 1)), greatest: (1n << BigInt(bits - 1)) - 1n }
    : { least: 0n, greatest: (1n << BigInt(bits)) - 1n };
}

/** Clamps to an integer type (`cvt.sat`). */
export function clampInteger(value: bigint, bits: number, isSigned: boolean): bigint {
  const { least, greatest } = integerRange(bits, isSigned);
  return value < least ? least : value > greatest ? greatest : value;
}

/** Float to integer: rounds, then clamps to the type. `nan` is what NaN becomes. */
export function floatToInteger(
  value: number,
  bits: number,
  isSigned: boolean,
  rounding: Rounding,
  nan: bigint,
): bigint {
  if (value !== value) return nan;
  const { least, greatest } = integerRange(bits, isSigned);
  if (value === Infinity) return greatest;
  if (value === -Infinity) return least;
  return clampInteger(BigInt(toIntegral(value, rounding)), bits, isSigned);
}

/** Integer to f32 or f64, rounded once. */
export function integerToFloat(value: bigint, width: 32 | 64, rounding: Rounding): number {
  const exact = { negative: value < 0n, significand: value < 0n ? -value : value, exponent: 0 };
  return roundToNumber(exact, width === 32 ? binary32 : binary64, rounding);
}
