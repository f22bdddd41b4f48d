import { floatFormat, floatFormats, type ElementType, type FloatFormat } from '../forms/index.js';

/** Elements of a matrix as numbers: exact values, exponents of the significand's first place, and what is no number. */
export interface Decoded {
  readonly values: Float64Array;
  /** As the format has it: the smallest one of a subnormal and of nought. */
  readonly exponents: Int32Array;
  /** 0 a number, 1 an infinity, 2 a NaN. */
  readonly kinds: Uint8Array;
}

const scratch = new DataView(new ArrayBuffer(8));

/** Exponent of the leading bit of a finite double that is not nought and not subnormal. */
export function leadingExponent(value: number): number {
  scratch.setFloat64(0, value);
  return ((scratch.getUint32(0) >>> 20) & 0x7ff) - 1023;
}

/** Powers of two from 2^-1074 to 2^1023. */
const powers = Float64Array.from({ length: 2098 }, (_, index) => 2 ** (index - 1074));

export function power(exponent: number): number {
  return powers[exponent + 1074] ?? (exponent < 0 ? 0 : Infinity);
}

export function decodeAll(type: ElementType, bits: Uint32Array): Decoded {
  const decoded = {
    values: new Float64Array(bits.length),
    exponents: new Int32Array(bits.length),
    kinds: new Uint8Array(bits.length),
  };
  const format = floatFormat(type);
  if (format === undefined || type === 'f64') throw new RangeError(`${type} is no narrow float`);
  for (let at = 0; at < bits.length; at++) decodeInto(decoded, at, bits[at] ?? 0, format);
  return decoded;
}

function decodeInto(target: Decoded, at: number, stored: number, format: FloatFormat): void {
  const { exponentBits, fractionBits, bias, paddingBits, hasInfinity } = format;
  const bits = stored >>> paddingBits;
  const top = 2 ** exponentBits - 1;
  const field = (bits >>> fractionBits) & top;
  const fraction = bits & (2 ** fractionBits - 1);
  const sign = (bits >>> (exponentBits + fractionBits)) & 1 ? -1 : 1;
  const exponent = Math.max(field, 1) - bias;
  target.exponents[at] = exponent;
  const isTop = hasInfinity ? field === top : field === top && fraction === 2 ** fractionBits - 1;
  if (isTop) {
    const isInfinite = hasInfinity && fraction === 0;
    target.kinds[at] = isInfinite ? 1 : 2;
    target.values[at] = isInfinite ? sign * Infinity : NaN;
    return;
  }
  const significand = fraction + (field === 0 ? 0 : 2 ** fractionBits);
  target.kinds[at] = 0;
  target.values[at] = sign * significand * power(exponent - fractionBits);
}

/** One element as a number. */
export function decodeNumber(type: ElementType, bits: number): number {
  return decodeAll(type, Uint32Array.of(bits)).values[0] ?? 0;
}

/**
 * A double rounded to so many fraction bits and no exponent below `lowest`. Only exact steps: `value` has at most 53 bits and its
 * quantum is no subnormal.
 */
export function roundTo(value: number, fractionBits: number, lowest: number, rounding: 'rz' | 'rn'): number {
  if (value === 0) return value;
  const quantum = Math.max(leadingExponent(value), lowest) - fractionBits;
  const steps = value * power(-quantum);
  const whole = Math.trunc(steps);
  if (rounding === 'rz' || whole === steps) return whole * power(quantum);
  const rest = Math.abs(steps - whole);
  const away = rest > 0.5 || (rest === 0.5 && whole % 2 !== 0);
  return (away ? whole + Math.sign(steps) : whole) * power(quantum);
}

/** The nearest f16 or f32, ties to even; what is too large is an infinity. */
export function nearest(value: number, type: 'f16' | 'f32'): number {
  if (type === 'f32') return Math.fround(value);
  if (!Number.isFinite(value)) return value;
  const rounded = roundTo(value, 10, -14, 'rn');
  return Math.abs(rounded) < 65536 ? rounded : Math.sign(value) * Infinity;
}

/** Bits of a number that the format holds exactly, or of a signed nought or infinity. */
export function encodeExact(type: 'f16' | 'f32', value: number): number {
  if (type === 'f32') {
    scratch.setFloat32(0, value);
    return scratch.getUint32(0);
  }
  return encodeNarrow(type, value);
}

/** The nearest number of a type towards nought, as stored bits; what is too large is an infinity, or the largest where there is none. */
export function encodeNarrow(type: keyof typeof floatFormats, value: number): number {
  const format: FloatFormat = floatFormats[type];
  const { exponentBits, fractionBits, bias, paddingBits, hasInfinity } = format;
  const sign = value < 0 || Object.is(value, -0) ? 1 : 0;
  const magnitude = Math.abs(value);
  const top = 2 ** exponentBits - 1;
  const store = (field: number, fraction: number): number =>
    ((sign * 2 ** (exponentBits + fractionBits) + field * 2 ** fractionBits + fraction) << paddingBits) >>> 0;
  if (magnitude === 0) return store(0, 0);
  const rounded = roundTo(magnitude, fractionBits, 1 - bias, 'rz');
  const exponent = rounded === 0 ? 1 - bias : Math.max(leadingExponent(rounded), 1 - bias);
  const steps = rounded * power(fractionBits - exponent);
  const field = exponent + bias - (steps < 2 ** fractionBits ? 1 : 0);
  if (hasInfinity)
    return field >= top || magnitude === Infinity ? store(top, 0) : store(field, steps % 2 ** fractionBits);
  const isTooLarge = field > top || (field === top && steps % 2 ** fractionBits === 2 ** fractionBits - 1);
  return isTooLarge ? store(top, 2 ** fractionBits - 2) : store(field, steps % 2 ** fractionBits);
}
