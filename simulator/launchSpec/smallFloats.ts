/** Floats of 16 bits: how their bits are shared out. */
interface SmallFormat {
  readonly exponentBits: number;
  readonly mantissaBits: number;
  readonly largest: number;
}

export type SmallFloat = 'f16' | 'bf16';

const FORMATS: Readonly<Record<SmallFloat, SmallFormat>> = {
  f16: { exponentBits: 5, mantissaBits: 10, largest: 65504 },
  bf16: { exponentBits: 8, mantissaBits: 7, largest: 3.3895313892515355e38 },
};

/** The largest finite value. */
export function largestOf(type: SmallFloat): number {
  return FORMATS[type].largest;
}

/** Bits of the nearest value, ties to even; what lies beyond the largest becomes an infinity. */
export function smallFloatBits(type: SmallFloat, value: number): number {
  const { exponentBits, mantissaBits } = FORMATS[type];
  const sign = (value < 0 || Object.is(value, -0) ? 1 : 0) << 15;
  const infinity = ((1 << exponentBits) - 1) << mantissaBits;
  if (Number.isNaN(value)) return 0x7fff;
  const size = Math.abs(value);
  const bias = 2 ** (exponentBits - 1) - 1;
  const lowest = 1 - bias;
  const exponent = Math.max(lowest, exponentOf(size));
  if (exponent > bias) return sign | infinity;
  // A power of two times less than 2^53: exact, so that this rounds once.
  const steps = roundToEven((size / 2 ** exponent) * 2 ** mantissaBits);
  const bits = ((exponent - lowest) << mantissaBits) + steps;
  return sign | Math.min(bits, infinity);
}

export function smallFloatValue(type: SmallFloat, bits: number): number {
  const { exponentBits, mantissaBits } = FORMATS[type];
  const bias = 2 ** (exponentBits - 1) - 1;
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits & 0x7fff) >> mantissaBits;
  const mantissa = bits & ((1 << mantissaBits) - 1);
  if (exponent === (1 << exponentBits) - 1) return mantissa === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return sign * mantissa * 2 ** (1 - bias - mantissaBits);
  return sign * (mantissa + 2 ** mantissaBits) * 2 ** (exponent - bias - mantissaBits);
}

const asDouble = new Float64Array(1);
const asWords = new Uint32Array(asDouble.buffer);

/** Of the largest power of two that is not above a value; 1024 of infinity, and -1023 of what is too small to matter here. */
function exponentOf(value: number): number {
  asDouble[0] = value;
  return ((asWords[1] >>> 20) & 0x7ff) - 1023;
}

function roundToEven(value: number): number {
  const low = Math.floor(value);
  const rest = value - low;
  if (rest !== 0.5) return rest < 0.5 ? low : low + 1;
  return low % 2 === 0 ? low : low + 1;
}
