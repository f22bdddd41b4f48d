import type { FloatFormat, Rounding } from './floatFormat.js';
import { exactOf, roundToBits } from './floatFormat.js';
import { canonicalNan16, toHalf } from './half.js';

/** Formats of tensor cores: tf32 is an f32 of 10 fraction bits, e4m3 and e5m2 are bytes. */
const tensorFloat: FloatFormat = { precision: 11, exponentBits: 8 };

/** The f32 bits of a number rounded to tf32. */
export function toTensorFloat(value: number, rounding: Rounding): number {
  if (value !== value) return 0x7fffe000;
  if (!Number.isFinite(value)) return value > 0 ? 0x7f800000 : 0xff800000 | 0;
  return Number(roundToBits(exactOf(value), tensorFloat, rounding)) << 13;
}

/**
 * `.rna`, of f32 bits: half a unit is added to the magnitude and the rest is cut off, also of a NaN. `.satfinite` takes one
 * unit from what then has the exponent of infinity.
 */
export function tensorFloatAway(bits: number, clamps: boolean): number {
  const isSpecial = (bits & 0x7f800000) === 0x7f800000;
  const rounded = (isSpecial ? bits : bits + 0x1000) & ~0x1fff;
  return clamps && (rounded & 0x7f800000) === 0x7f800000 ? rounded - 0x2000 : rounded;
}

export function isQuarters(type: string): boolean {
  return type === 'e4m3x2' || type === 'e5m2x2';
}

interface QuarterFormat {
  readonly format: FloatFormat;
  readonly greatest: number;
  readonly greatestBits: number;
  readonly nan: number;
}

const quarters: Readonly<Record<string, QuarterFormat>> = {
  // Without infinities: the largest exponent holds numbers up to 448.
  e4m3x2: { format: { precision: 4, exponentBits: 4 }, greatest: 448, greatestBits: 0x7e, nan: 0x7f },
  e5m2x2: { format: { precision: 3, exponentBits: 5 }, greatest: 57344, greatestBits: 0x7b, nan: 0x7f },
};

/** Rounds to nearest into a byte, `.satfinite`: what is too large becomes the greatest number. */
export function toQuarter(type: string, bound: (value: number) => number): (value: number) => number {
  const quarter = quarters[type];
  if (quarter === undefined) throw new RangeError(`${type} is no format of bytes`);
  const { format, greatest, greatestBits, nan } = quarter;
  return (value) => {
    const kept = bound(value);
    if (kept !== kept) return nan;
    const sign = kept < 0 || Object.is(kept, -0) ? 0x80 : 0;
    const magnitude = Math.abs(kept);
    if (magnitude >= greatest) return sign | greatestBits;
    if (type === 'e5m2x2') return sign | Number(roundToBits(exactOf(magnitude), format, 'nearestEven'));
    return sign | Math.min(roundE4m3(magnitude), greatestBits);
  };
}

/** The bits of a magnitude below 448 in e4m3: exponent bias 7, subnormals in steps of 2^-9. */
function roundE4m3(magnitude: number): number {
  let exponent = Math.max(Math.floor(Math.log2(Math.max(magnitude, 2 ** -20))), -6);
  if (exponent > -6 && 2 ** exponent > magnitude) exponent--;
  const scaled = magnitude * 2 ** (3 - exponent);
  const below = Math.floor(scaled);
  const rest = scaled - below;
  const rounded = rest > 0.5 || (rest === 0.5 && (below & 1) === 1) ? below + 1 : below;
  // A carry out of the significand lands in the exponent field by itself.
  return rounded + ((exponent + 6) << 3);
}

function fromQuarter(bits: number, type: string): number {
  const sign = (bits & 0x80) === 0 ? 1 : -1;
  const magnitude = bits & 0x7f;
  if (type === 'e4m3x2') {
    if (magnitude === 0x7f) return NaN;
    const exponent = magnitude >> 3;
    return sign * (exponent === 0 ? (magnitude & 7) * 2 ** -9 : (8 + (magnitude & 7)) * 2 ** (exponent - 10));
  }
  const exponent = magnitude >> 2;
  if (exponent === 31) return (magnitude & 3) === 0 ? sign * Infinity : NaN;
  return sign * (exponent === 0 ? (magnitude & 3) * 2 ** -16 : (4 + (magnitude & 3)) * 2 ** (exponent - 17));
}

/** Two bytes to two f16. */
export function fromQuarters(bits: number, type: string, bound?: (value: number) => number): number {
  const one = (byte: number): number => {
    const value = fromQuarter(byte, type);
    return value !== value ? canonicalNan16 : toHalf(bound === undefined ? value : bound(value));
  };
  return (one((bits >>> 8) & 0xff) << 16) | one(bits & 0xff);
}
