import type { Rounding } from '../forms/index.js';
import type { ChainModel } from './parameters.js';

const words = new BigUint64Array(1);
const doubles = new Float64Array(words.buffer);

function doubleOf(bits: bigint): number {
  words[0] = bits;
  return doubles[0] ?? 0;
}

function bitsOf(value: number): bigint {
  doubles[0] = value;
  return words[0] ?? 0n;
}

const quietBit = 1n << 51n;
const quietNan = 0x7ff8_0000_0000_0000n;
const negativeQuietNan = 0xfff8_0000_0000_0000n;

/** Pairs of factors and the accumulator, as bits. */
export interface ChainOperands {
  readonly a: BigUint64Array;
  readonly b: BigUint64Array;
  readonly c: BigUint64Array;
}

/**
 * Bits of one element of an f64 product.
 * @param aAt index of the first factor of A; the others follow
 * @param bAt indices of the factors of B
 */
export function chainDot(
  { a, b, c }: ChainOperands,
  model: ChainModel,
  rounding: Rounding,
  aAt: number,
  bAt: Int32Array,
  cAt: number,
): bigint {
  const count = bAt.length;
  const length = Math.min(model.blockLength, count);
  const start = c[cAt] ?? 0n;
  let sum = model.accumulator === 'first' ? start : 0n;
  for (let first = 0; first < count; first += length) {
    const block = model.order === 'ascending' ? first : count - length - first;
    const left: bigint[] = [];
    const right: bigint[] = [];
    for (let at = block; at < block + length; at++) {
      left.push(a[aAt + at] ?? 0n);
      right.push(b[bAt[at] ?? 0] ?? 0n);
    }
    sum = sumOfProducts(left, right, sum, model, rounding);
  }
  if (model.accumulator === 'end') sum = sumOfProducts([bitsOf(1)], [start], sum, model, rounding);
  return sum;
}

/** Σ left · right + addend, rounded once. */
function sumOfProducts(
  left: readonly bigint[],
  right: readonly bigint[],
  addend: bigint,
  model: ChainModel,
  rounding: Rounding,
): bigint {
  const factors = left.map((bits, index) => [doubleOf(bits), doubleOf(right[index] ?? 0n)] as const);
  const sum = doubleOf(addend);
  if (factors.some(([x, y]) => !Number.isFinite(x) || !Number.isFinite(y)) || !Number.isFinite(sum)) {
    const special = factors
      .filter(([x, y]) => !Number.isFinite(x) || !Number.isFinite(y))
      .reduce((total, [x, y]) => total + x * y, Number.isFinite(sum) ? 0 : sum);
    return Number.isNaN(special) ? nanOf(left, right, addend, model) : bitsOf(special);
  }
  return exactSum(factors, sum, rounding);
}

function nanOf(
  left: readonly bigint[],
  right: readonly bigint[],
  addend: bigint,
  { nan }: ChainModel,
): bigint {
  if (nan === 'quiet') return quietNan;
  if (nan === 'negativeQuiet') return negativeQuietNan;
  if (nan === 'allOnes') return 0x7fff_ffff_ffff_ffffn;
  const found = [...right, addend, ...left].find((bits) => Number.isNaN(doubleOf(bits)));
  return found === undefined ? negativeQuietNan : found | quietBit;
}

/** A finite double as an integer times a power of two. */
function parts(value: number): readonly [bigint, number] {
  const bits = bitsOf(value);
  const field = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xf_ffff_ffff_ffffn;
  const significand = field === 0 ? fraction : fraction | (1n << 52n);
  return [bits >> 63n === 1n ? -significand : significand, Math.max(field, 1) - 1075];
}

function exactSum(
  factors: readonly (readonly [number, number])[],
  addend: number,
  rounding: Rounding,
): bigint {
  const terms = factors
    .map(([x, y]) => {
      const [mx, ex] = parts(x);
      const [my, ey] = parts(y);
      return [mx * my, ex + ey] as const;
    })
    .concat([parts(addend)])
    .filter(([significand]) => significand !== 0n);
  if (terms.length === 0) return zeroOf(factors, addend, rounding);
  const lowest = Math.min(...terms.map(([, exponent]) => exponent));
  const total = terms.reduce(
    (sum, [significand, exponent]) => sum + (significand << BigInt(exponent - lowest)),
    0n,
  );
  if (total === 0n) return zeroOf(factors, addend, rounding);
  return roundExact(total, lowest, rounding);
}

/** A sum that is nought: + unless all its terms are -0, or it is rounded down and they are not all +0. */
function zeroOf(factors: readonly (readonly [number, number])[], addend: number, rounding: Rounding): bigint {
  const signs = [...factors.map(([x, y]) => isSigned(x) !== isSigned(y)), isSigned(addend)];
  const isNegative = signs.every((sign) => sign) || (rounding === 'rm' && signs.some((sign) => sign));
  return isNegative ? 1n << 63n : 0n;
}

function isSigned(value: number): boolean {
  return value < 0 || Object.is(value, -0);
}

/** total · 2^exponent as a double's bits. */
function roundExact(total: bigint, exponent: number, rounding: Rounding): bigint {
  const isNegative = total < 0n;
  const magnitude = isNegative ? -total : total;
  const length = magnitude.toString(2).length;
  const quantum = Math.max(exponent + length - 53, -1074);
  let steps: bigint;
  const shift = quantum - exponent;
  if (shift <= 0) steps = magnitude << BigInt(-shift);
  else {
    steps = magnitude >> BigInt(shift);
    const rest = magnitude - (steps << BigInt(shift));
    const half = 1n << BigInt(shift - 1);
    const isUp = {
      rn: rest > half || (rest === half && (steps & 1n) === 1n),
      rz: false,
      rm: isNegative && rest > 0n,
      rp: !isNegative && rest > 0n,
    }[rounding];
    if (isUp) steps += 1n;
  }
  // 53 bits, or one more after a carry; the value is steps · 2^quantum.
  const field = steps >= 1n << 52n ? BigInt(quantum + 1075) : 0n;
  const bits = field === 0n ? steps : ((field - 1n) << 52n) + steps;
  const sign = isNegative ? 1n << 63n : 0n;
  const infinity = 0x7ffn << 52n;
  if (bits < infinity) return sign | bits;
  const staysFinite = rounding === 'rz' || rounding === (isNegative ? 'rp' : 'rm');
  return sign | (staysFinite ? infinity - 1n : infinity);
}
