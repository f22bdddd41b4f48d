import { truncatedSquare } from './exponential.js';
import {
  logarithmTable,
  reciprocalTable,
  rootReciprocalTable,
  rootReciprocalTableOdd,
  rootTable,
  rootTableOdd,
  sineTable,
  tangentTable,
} from './specialFunctionTables.js';
import type { SegmentTable } from './specialFunctionTables.js';

/**
 * The special function unit of an H200 to the bit (S. F. Oberman, M. Y. Siu, A High-Performance Area-Efficient
 * Multifunction Interpolator, ARITH 2005): bits of an f32 in, bits of an f32 out; subnormal operands are zeros to it and
 * subnormal results become zeros. The upper bits of the fraction choose a segment, the lower ones go through its
 * quadratic, whose square leaves out the partial products of its lowest columns; the sum is cut.
 */

/** Bits of the NaN that the unit gives. */
export const unitNan = 0x7fffffff;

const infinity = 0x7f800000;
const leastNormal = 0x00800000;
const signBit = 0x80000000 | 0;
const fractionMask = 0x7fffff;

/** The coefficients of tables one behind the other: c0, c1, c2 of a segment. */
function flat(table: SegmentTable): Float64Array {
  return Float64Array.from(table.flat());
}

const reciprocals = flat(reciprocalTable);
const rootReciprocals = [flat(rootReciprocalTable), flat(rootReciprocalTableOdd)] as const;
const roots = [flat(rootTable), flat(rootTableOdd)] as const;
const logarithms = flat(logarithmTable);
const sines = flat(sineTable);
const tangents = flat(tangentTable);

/** x² in units of 2^17 for an x of 16 bits, without the partial products of the columns below 17. */
function truncatedSquare16(x: number): number {
  const upper = x >> 8;
  let square = (upper * upper) >> 1;
  for (let bit = 1; bit <= 7; bit++) square += -((x >> bit) & 1) & (x >> (16 - bit));
  return square;
}

function sum(table: Float64Array, segment: number, x: number, square: number): number {
  const at = 3 * segment;
  return (table[at] ?? 0) + (table[at + 1] ?? 0) * x + (table[at + 2] ?? 0) * square;
}

/** Of 64 segments: the sum for a fraction of 23 bits. */
function sumOf64(table: Float64Array, fraction: number): number {
  const x = fraction & 0x1ffff;
  return sum(table, fraction >> 17, x, truncatedSquare(x));
}

/** Of 128 segments: the upper 24 bits of 1/x for a fraction that is not zero, in units of 2^-24. */
function reciprocalSignificand(fraction: number): number {
  const x = fraction & 0xffff;
  return Math.floor(sum(reciprocals, fraction >> 16, x, truncatedSquare16(x)) / 2 ** 15);
}

/** The same of 1/√x, x in [1, 2) or, when odd, [2, 4). */
function rootReciprocalSignificand(fraction: number, odd: number): number {
  return Math.floor(sumOf64(odd === 1 ? rootReciprocals[1] : rootReciprocals[0], fraction) / 2 ** 16);
}

/** MUFU.RCP */
export function unitReciprocal(bits: number): number {
  const sign = bits & signBit;
  const magnitude = bits & 0x7fffffff;
  if (magnitude >= infinity) return magnitude === infinity ? sign : unitNan;
  if (magnitude < leastNormal) return sign | infinity;
  const fraction = magnitude & fractionMask;
  const exponent = magnitude >> 23;
  const significand = fraction === 0 ? 0x1000000 : reciprocalSignificand(fraction);
  // 0x800000 stands for the leading one, which the exponent's field makes up for.
  return exponent >= 253 && (exponent > 253 || fraction > 0)
    ? sign
    : sign | (((253 - exponent) << 23) + significand - 0x800000);
}

/** MUFU.RSQ */
export function unitReciprocalRoot(bits: number): number {
  const magnitude = bits & 0x7fffffff;
  if (magnitude > infinity) return unitNan;
  if (magnitude < leastNormal) return (bits & signBit) | infinity;
  if (bits < 0) return unitNan;
  if (magnitude === infinity) return 0;
  const exponent = (magnitude >> 23) - 127;
  const fraction = magnitude & fractionMask;
  const isPower = fraction === 0 && (exponent & 1) === 0;
  const significand = isPower ? 0x1000000 : rootReciprocalSignificand(fraction, exponent & 1);
  return ((126 - (exponent >> 1)) << 23) + significand - 0x800000;
}

/** MUFU.SQRT */
export function unitRoot(bits: number): number {
  const magnitude = bits & 0x7fffffff;
  if (magnitude > infinity) return unitNan;
  if (magnitude < leastNormal) return bits & signBit;
  if (bits < 0) return unitNan;
  if (magnitude === infinity) return infinity;
  const exponent = (magnitude >> 23) - 127;
  const odd = exponent & 1;
  const sumOfRoot = sumOf64(odd === 1 ? roots[1] : roots[0], magnitude & fractionMask);
  return ((127 + (exponent >> 1)) << 23) + Math.floor(sumOfRoot / (odd === 1 ? 2 ** 16 : 2 ** 17)) - 0x800000;
}

const single = new Float32Array(1);
const word = new Int32Array(single.buffer);

function numberOf(bits: number): number {
  word[0] = bits;
  return single[0] ?? 0;
}

function bitsOf(value: number): number {
  single[0] = value;
  return word[0] ?? 0;
}

/** Bits of `sign · value · 2^-fractionBits`, cut to 24 bits. `value` is a whole number below 2^53. */
function normalized(sign: number, value: number, fractionBits: number): number {
  if (value < 2 ** 24) return sign | bitsOf(value * 2 ** -fractionBits);
  const drop = 2 ** (Math.floor(Math.log2(value)) - 23);
  // The logarithm may be one off next to a power of two.
  const unit = value / drop >= 2 ** 24 ? 2 * drop : value / drop < 2 ** 23 ? drop / 2 : drop;
  return sign | bitsOf(Math.floor(value / unit) * unit * 2 ** -fractionBits);
}

/** MUFU.LG2: exponent and logarithm of the fraction in units of 2^-36; what is negative is complemented. */
export function unitLogarithm(bits: number): number {
  const magnitude = bits & 0x7fffffff;
  if (magnitude > infinity) return unitNan;
  if (magnitude < leastNormal) return infinity | signBit;
  if (bits < 0) return unitNan;
  if (magnitude === infinity) return infinity;
  if (magnitude === 0x3f800000) return 0;
  const exponent = (magnitude >> 23) - 127;
  const total = exponent * 2 ** 36 + Math.floor(sumOf64(logarithms, magnitude & fractionMask) / 4);
  return total < 0 ? normalized(signBit, -total - 1, 36) : normalized(0, total, 36);
}

/** MUFU.SIN and MUFU.COS of an angle in turns, cut to 25 fraction bits: odd quarters count backwards by complement. */
export function unitSine(bits: number, cosine: boolean): number {
  const magnitude = bits & 0x7fffffff;
  if (magnitude >= infinity) return unitNan;
  const whole = magnitude < leastNormal ? 0 : Math.floor(numberOf(magnitude) * 2 ** 25);
  const fixed = whole % 2 ** 25;
  const quarter = ((fixed >> 23) + (cosine ? 1 : 0)) & 3;
  const fraction = (quarter & 1) === 0 ? fixed & fractionMask : ~fixed & fractionMask;
  const sign = (cosine ? 0 : bits & signBit) ^ ((quarter & 2) === 0 ? 0 : signBit);
  return normalized(sign, sumOf64(sines, fraction), 37);
}

/** Of tanh, from the binade of 2^-8 up: number of the first segment, and how many bits of the fraction choose one. */
export const tangentBinades: readonly (readonly [first: number, bits: number])[] = [
  [0, 0],
  [1, 0],
  [2, 0],
  [3, 1],
  [5, 1],
  [7, 2],
  [11, 2],
  [15, 2],
  [19, 3],
  [27, 4],
  [43, 3],
];

/** MUFU.TANH: the operand itself below 2^-8, one from 8 on. It alone takes subnormal operands. */
export function unitTangent(bits: number): number {
  const magnitude = bits & 0x7fffffff;
  if (magnitude > infinity) return unitNan;
  const exponent = magnitude >> 23;
  if (exponent < 119) return bits;
  const sign = bits & signBit;
  const binade = tangentBinades[exponent - 119];
  if (binade === undefined) return sign | 0x3f800000;
  const [first, choosing] = binade;
  const fraction = magnitude & fractionMask;
  const x = (fraction >> (6 - choosing)) & 0x1ffff;
  return normalized(sign, sum(tangents, first + (fraction >> (23 - choosing)), x, truncatedSquare(x)), 42);
}

/** MUFU.RCP64H: upper word of a double in, upper word out. */
export function unitReciprocal64(high: number): number {
  const sign = high & signBit;
  const magnitude = high & 0x7fffffff;
  if (magnitude >= 0x7ff00000) return magnitude === 0x7ff00000 ? sign : unitNan;
  const exponent = magnitude >> 20;
  if (exponent === 0) return sign | 0x7ff00000;
  const fraction = magnitude & 0xfffff;
  const significand = fraction === 0 ? 0x200000 : reciprocalSignificand(fraction << 3) >> 3;
  const field = 2045 - exponent + (fraction === 0 ? 1 : 0);
  return field < 1 ? sign : sign | (((2045 - exponent) << 20) + significand - 0x100000);
}

/** MUFU.RSQ64H: upper word of a double in, upper word out. */
export function unitReciprocalRoot64(high: number): number {
  const magnitude = high & 0x7fffffff;
  if (magnitude > 0x7ff00000) return unitNan;
  if (magnitude >> 20 === 0) return (high & signBit) | 0x7ff00000;
  if (high < 0) return unitNan;
  if (magnitude === 0x7ff00000) return 0;
  const exponent = (magnitude >> 20) - 1023;
  const fraction = magnitude & 0xfffff;
  const isPower = fraction === 0 && (exponent & 1) === 0;
  const significand = isPower ? 0x200000 : rootReciprocalSignificand(fraction << 3, exponent & 1) >> 3;
  return ((1022 - (exponent >> 1)) << 20) + significand - 0x100000;
}

/** First segments of the tables in `specialFunctionWords`. */
export const specialFunctionRows = {
  reciprocal: 0,
  /** Odd exponents first: the lowest bit of an exponent's field, whose bias is odd, is 1 where the exponent is even. */
  rootReciprocalOdd: 128,
  rootReciprocal: 192,
  rootOdd: 256,
  root: 320,
  logarithm: 384,
  sine: 448,
  tangent: 512,
  /** Of each binade of tanh: first segment and how many bits choose one, in the places of c0 and c1. */
  tangentBinades: 512 + tangentTable.length,
  squareMasks: 512 + tangentTable.length + tangentBinades.length,
} as const;

/**
 * Of a truncated square, the products of seven upper and seven lower bits whose columns count, as pairs of masks; the
 * lower bits stand one place further up.
 */
const squareProducts: readonly (readonly [upper: number, lower: number])[] = [
  [0x70, 0x7c],
  [0x08, 0x78],
  [0x04, 0x70],
  [0x02, 0x60],
  [0x01, 0x40],
  [0x60, 0x02],
  [0x40, 0x01],
  [0, 0],
];

/** Two products a row: what the halves of a word of upper bits are masked by, and in the row behind it of lower bits. */
const squareMasks: readonly number[] = [0, 2, 4, 6].flatMap((at) => {
  const [one = [0, 0], other = [0, 0]] = squareProducts.slice(at, at + 2);
  const upper = one[0] | (other[0] << 16);
  const lower = (one[1] << 1) | (other[1] << 17);
  return [upper, upper, upper, upper, lower, lower, lower, lower];
});

/** Coefficients as compiled code reads them: 16 bytes a segment, c0 in 64 bits, c1 and c2 in 32. */
export const specialFunctionWords: Int32Array = Int32Array.from([
  ...[
    ...reciprocalTable,
    ...rootReciprocalTableOdd,
    ...rootReciprocalTable,
    ...rootTableOdd,
    ...rootTable,
    ...logarithmTable,
    ...sineTable,
    ...tangentTable,
    ...tangentBinades.map(([first, bits]) => [first, bits, 0] as const),
  ].flatMap(([c0, c1, c2]) => [c0 | 0, Math.floor(c0 / 2 ** 32), c1, c2]),
  ...squareMasks,
]);
