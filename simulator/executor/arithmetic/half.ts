import type { FloatFormat, Rounding } from './floatFormat.js';
import { bfloat16, binary16, exactOf, roundToBits } from './floatFormat.js';

/** Bits of the NaN that operations on f16 and bf16 give. */
export const canonicalNan16 = 0x7fff;

function toBits(value: number, format: FloatFormat, rounding: Rounding): number {
  if (value !== value) return canonicalNan16;
  if (Number.isFinite(value)) return Number(roundToBits(exactOf(value), format, rounding));
  const infinity = ((1 << format.exponentBits) - 1) << (format.precision - 1);
  return value > 0 ? infinity : infinity | 0x8000;
}

/** Bits of a number rounded to f16. */
export function toHalf(value: number, rounding: Rounding = 'nearestEven'): number {
  return toBits(value, binary16, rounding);
}

/** Bits of a number rounded to bf16. */
export function toBfloat(value: number, rounding: Rounding = 'nearestEven'): number {
  return toBits(value, bfloat16, rounding);
}

/** The number that f16 bits stand for. */
export function fromHalf(bits: number): number {
  const sign = (bits & 0x8000) === 0 ? 1 : -1;
  const exponent = (bits >>> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (fraction | 0x400) * 2 ** (exponent - 25));
}

const word = new Int32Array(1);
const single = new Float32Array(word.buffer);

/** The number that bf16 bits stand for: the upper half of an f32. */
export function fromBfloat(bits: number): number {
  word[0] = bits << 16;
  return single[0] ?? 0;
}

/** One of the two 16-bit formats. */
export interface HalfFormat {
  readonly format: FloatFormat;
  readonly read: (bits: number) => number;
  readonly write: (value: number, rounding?: Rounding) => number;
  readonly one: number;
  readonly greatest: number;
  readonly leastNormal: number;
}

export const halfFormats: Readonly<Record<'f16' | 'bf16', HalfFormat>> = {
  f16: {
    format: binary16,
    read: fromHalf,
    write: toHalf,
    one: 0x3c00,
    greatest: 0x7bff,
    leastNormal: 2 ** -14,
  },
  bf16: {
    format: bfloat16,
    read: fromBfloat,
    write: toBfloat,
    one: 0x3f80,
    greatest: 0x7f7f,
    leastNormal: 2 ** -126,
  },
};

export function halfFormatOf(type: string): HalfFormat {
  return halfFormats[type.startsWith('b') ? 'bf16' : 'f16'];
}
