import type { Exact, FloatFormat, Rounding } from './floatFormat.js';
import {
  addExact,
  binary32,
  binary64,
  divideSticky,
  exactOf,
  multiplyExact,
  rootSticky,
  roundToNumber,
} from './floatFormat.js';

/** Bits of the NaN that every f32 operation of the hardware gives. */
export const canonicalNan32 = 0x7fffffff;

/** The least normal f32. */
export const smallestNormal32 = 2 ** -126;

/** `.ftz`: a subnormal f32 becomes a zero of its sign. */
export function flush32(value: number): number {
  return Math.abs(value) < smallestNormal32 ? value * 0 : value;
}

/** `.sat`: clamps to [0, 1]; NaN and negative zero become +0. */
export function saturate(value: number): number {
  return value > 0 ? Math.min(value, 1) : 0;
}

/** `a + b` of doubles, rounded once to a format. */
function addTo(a: number, b: number, format: FloatFormat, rounding: Rounding): number {
  if (!Number.isFinite(a) || !Number.isFinite(b)) return a + b;
  return roundToNumber(exactSum(exactOf(a), exactOf(b), rounding), format, rounding);
}

/** IEEE 754: a sum that cancels is +0, or −0 rounding down; zeros of one sign keep it. */
function exactSum(a: Exact, b: Exact, rounding: Rounding): Exact {
  const bothZero = a.significand === 0n && b.significand === 0n;
  const negativeZero = bothZero && a.negative === b.negative ? a.negative : rounding === 'towardNegative';
  return addExact(a, b, negativeZero);
}

function multiplyTo(a: number, b: number, format: FloatFormat, rounding: Rounding): number {
  if (!Number.isFinite(a) || !Number.isFinite(b)) return a * b;
  return roundToNumber(multiplyExact(exactOf(a), exactOf(b)), format, rounding);
}

function divideTo(a: number, b: number, format: FloatFormat, rounding: Rounding): number {
  if (!Number.isFinite(a) || !Number.isFinite(b) || b === 0) return a / b;
  return roundToNumber(divideSticky(exactOf(a), exactOf(b), format.precision), format, rounding);
}

function rootTo(a: number, format: FloatFormat, rounding: Rounding): number {
  if (!(a > 0) || a === Infinity) return Math.sqrt(a);
  return roundToNumber(rootSticky(exactOf(a), format.precision), format, rounding);
}

function fusedTo(a: number, b: number, c: number, format: FloatFormat, rounding: Rounding): number {
  if (!Number.isFinite(a) || !Number.isFinite(b) || !Number.isFinite(c)) {
    // A finite product must not overflow into the infinity that c may be.
    return Number.isFinite(a) && Number.isFinite(b) ? c : a * b + c;
  }
  return roundToNumber(
    exactSum(multiplyExact(exactOf(a), exactOf(b)), exactOf(c), rounding),
    format,
    rounding,
  );
}

/** f32 operations take and give numbers that are exactly f32. Rounding to nearest is one `Math.fround` of a double. */
export function add32(a: number, b: number, rounding: Rounding = 'nearestEven'): number {
  return rounding === 'nearestEven' ? Math.fround(a + b) : addTo(a, b, binary32, rounding);
}

export function multiply32(a: number, b: number, rounding: Rounding = 'nearestEven'): number {
  return rounding === 'nearestEven' ? Math.fround(a * b) : multiplyTo(a, b, binary32, rounding);
}

export function divide32(a: number, b: number, rounding: Rounding = 'nearestEven'): number {
  return rounding === 'nearestEven' ? Math.fround(a / b) : divideTo(a, b, binary32, rounding);
}

export function squareRoot32(a: number, rounding: Rounding = 'nearestEven'): number {
  return rounding === 'nearestEven' ? Math.fround(Math.sqrt(a)) : rootTo(a, binary32, rounding);
}

/** Rounds a double to f32. */
export function round32(value: number, rounding: Rounding = 'nearestEven'): number {
  if (rounding === 'nearestEven' || !Number.isFinite(value)) return Math.fround(value);
  return roundToNumber(exactOf(value), binary32, rounding);
}

export function add64(a: number, b: number, rounding: Rounding = 'nearestEven'): number {
  return rounding === 'nearestEven' ? a + b : addTo(a, b, binary64, rounding);
}

export function multiply64(a: number, b: number, rounding: Rounding = 'nearestEven'): number {
  return rounding === 'nearestEven' ? a * b : multiplyTo(a, b, binary64, rounding);
}

export function divide64(a: number, b: number, rounding: Rounding = 'nearestEven'): number {
  return rounding === 'nearestEven' ? a / b : divideTo(a, b, binary64, rounding);
}

export function squareRoot64(a: number, rounding: Rounding = 'nearestEven'): number {
  return rounding === 'nearestEven' ? Math.sqrt(a) : rootTo(a, binary64, rounding);
}

const words = new Int32Array(2);
const double = new Float64Array(words.buffer);
const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
const lowWord = littleEndian ? 0 : 1;
const highWord = 1 - lowWord;

/**
 * `a * b + c` of f32 rounded once to f32. The product is exact in a double; the sum rounds to 53 bits, which misleads the
 * second rounding only when it lands on the midpoint of two f32 (or when the result is subnormal in f32, whose
 * midpoints have other bit positions). Then the sum's error, exact by Knuth's two-sum, moves it off the midpoint.
 */
export function fusedMultiplyAdd32(
  a: number,
  b: number,
  c: number,
  rounding: Rounding = 'nearestEven',
): number {
  if (rounding !== 'nearestEven') return fusedTo(a, b, c, binary32, rounding);
  const product = a * b;
  const sum = product + c;
  double[0] = sum;
  const low = words[lowWord] ?? 0;
  // 29 bits fall away: a double whose 28 lowest bits are not all zero is no midpoint of normal f32.
  if ((low & 0x0fffffff) !== 0 && Math.abs(sum) >= smallestNormal32) return Math.fround(sum);
  const productPart = sum - c;
  const error = product - productPart + (c - (sum - productPart));
  // An odd double is no midpoint, and moving it could make it one.
  if (error === 0 || !Number.isFinite(error) || (low & 1) === 1) return Math.fround(sum);
  return Math.fround(towardError(sum, error));
}

/** The double next to `sum` on the side of its error: enough to leave a midpoint, too little to pass another. */
function towardError(sum: number, error: number): number {
  double[0] = sum;
  const grows = error > 0 === sum > 0;
  const low = words[lowWord] ?? 0;
  if (grows) {
    words[lowWord] = low + 1;
    if (low === -1) words[highWord] = (words[highWord] ?? 0) + 1;
  } else {
    words[lowWord] = low - 1;
    if (low === 0) words[highWord] = (words[highWord] ?? 0) - 1;
  }
  return double[0];
}

function split(a: number): [number, number] {
  const scaled = a * 134217729;
  const high = scaled - (scaled - a);
  return [high, a - high];
}

/**
 * `a * b + c` of doubles rounded once. By Boldo and Melquiond: the exact product and sum as pairs of doubles, their tails
 * added with rounding to odd, then one rounding to nearest. Near overflow and underflow, where the pairs are not
 * exact, by BigInt.
 */
export function fusedMultiplyAdd64(
  a: number,
  b: number,
  c: number,
  rounding: Rounding = 'nearestEven',
): number {
  if (rounding !== 'nearestEven') return fusedTo(a, b, c, binary64, rounding);
  const product = a * b;
  if (a === 0 || b === 0) return product + c;
  const isTame =
    Math.abs(a) < 2 ** 480 &&
    Math.abs(b) < 2 ** 480 &&
    Math.abs(c) < 2 ** 960 &&
    Math.abs(product) > 2 ** -800 &&
    (c === 0 || Math.abs(c) > 2 ** -800);
  if (!isTame) return fusedTo(a, b, c, binary64, rounding);
  const [aHigh, aLow] = split(a);
  const [bHigh, bLow] = split(b);
  const productTail = aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
  // two-sum of c and the product's tail, then of that sum and the product
  const tail = c + productTail;
  const tailPart = tail - c;
  const tailError = c - (tail - tailPart) + (productTail - tailPart);
  const head = product + tail;
  const headPart = head - product;
  const headError = product - (head - headPart) + (tail - headPart);
  const rest = addToOdd(headError, tailError);
  return head + rest;
}

/** Sum of doubles rounded to odd: an inexact sum gets an odd last bit, so that the next rounding is as of the exact one. */
function addToOdd(a: number, b: number): number {
  const sum = a + b;
  const part = sum - a;
  const error = a - (sum - part) + (b - part);
  if (error === 0) return sum;
  double[0] = sum;
  return ((words[lowWord] ?? 0) & 1) === 1 ? sum : towardError(sum, error);
}

/** PTX min: a number wins over NaN, −0 is below +0. NaN only when both are. */
export function minimum(a: number, b: number): number {
  if (a !== a) return b;
  if (b !== b) return a;
  return Math.min(a, b);
}

/** PTX max: a number wins over NaN, +0 is above −0. NaN only when both are. */
export function maximum(a: number, b: number): number {
  if (a !== a) return b;
  if (b !== b) return a;
  return Math.max(a, b);
}
