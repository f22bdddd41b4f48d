/**
 * The roundings that JavaScript lacks, from their definitions: fused multiply-add, binary16 and bfloat16. References use
 * them instead of the simulator's own arithmetic, so that one does not vouch for itself.
 */
const { fround } = Math;

/** a · b + c rounded once to 32 bits. The product is exact in 64 bits; the sum is rounded to odd before the last rounding. */
export function fma32(a: number, b: number, c: number): number {
  const product = a * b;
  const sum = product + c;
  if (!Number.isFinite(sum)) return fround(sum);
  const back = sum - product;
  const error = product - (sum - back) + (c - back);
  if (error === 0) return fround(sum);
  bits64[0] = sum;
  const low = words64[0] ?? 0n;
  if ((low & 1n) === 0n) words64[0] = low + (error > 0 === sum > 0 ? 1n : -1n);
  return fround(bits64[0] ?? 0);
}
const bits64 = new Float64Array(1);
const words64 = new BigInt64Array(bits64.buffer);

/** a · b + c rounded once to 64 bits, by integers of any length. Finite operands. */
export function fma64(a: number, b: number, c: number): number {
  const product = a * b;
  if (product === 0 || c === 0 || !Number.isFinite(product + c)) return product + c;
  const [ma, ea] = parts(a);
  const [mb, eb] = parts(b);
  const [mc, ec] = parts(c);
  const exponent = Math.min(ea + eb, ec);
  const sum = ((ma * mb) << BigInt(ea + eb - exponent)) + (mc << BigInt(ec - exponent));
  // Number() of a big integer rounds to nearest even; results are normal.
  return Number(sum) * 2 ** exponent;
}

/** Integer significand and exponent of a finite double. */
function parts(value: number): [bigint, number] {
  bits64[0] = value;
  const bits = BigInt.asUintN(64, words64[0] ?? 0n);
  const exponent = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const significand = exponent === 0 ? fraction : fraction | (1n << 52n);
  return [bits >> 63n === 1n ? -significand : significand, Math.max(exponent, 1) - 1075];
}

/** Nearest binary16 of a number, as bits; ties to even. */
export function toHalf(value: number): number {
  return toNarrow(value, 5, 10);
}

export function fromHalf(bits: number): number {
  return fromNarrow(bits, 5, 10);
}

/** Nearest bfloat16 of a number, as bits; ties to even. */
export function toBfloat(value: number): number {
  return toNarrow(value, 8, 7);
}

export function fromBfloat(bits: number): number {
  return fromNarrow(bits, 8, 7);
}

/** The value rounded to binary16. */
export const hround = (value: number): number => fromHalf(toHalf(value));
/** The value rounded to bfloat16. */
export const bround = (value: number): number => fromBfloat(toBfloat(value));

/** Exact in 64 bits for operands of 16: 22 bits of product and no more than 40 apart. */
export const fmaHalf = (a: number, b: number, c: number): number => hround(a * b + c);

function toNarrow(value: number, exponentBits: number, fractionBits: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 1 << (exponentBits + fractionBits) : 0;
  const top = (1 << exponentBits) - 1;
  // What hardware writes for a NaN: every bit but the sign.
  if (Number.isNaN(value)) return (1 << (exponentBits + fractionBits)) - 1;
  const magnitude = Math.abs(value);
  if (magnitude === Infinity) return sign | (top << fractionBits);
  const bias = (1 << (exponentBits - 1)) - 1;
  const exponent = magnitude === 0 ? 1 - bias : Math.max(Math.floor(Math.log2(magnitude)), 1 - bias);
  // log2 may be off by one next to a power of two: scaling shows it.
  const settled = magnitude / 2 ** exponent >= 2 ? exponent + 1 : exponent;
  const steps = roundTiesToEven((magnitude / 2 ** settled) * 2 ** fractionBits);
  const bits = ((settled + bias - 1) << fractionBits) + steps;
  return sign | (bits >= top << fractionBits ? top << fractionBits : bits);
}

function fromNarrow(bits: number, exponentBits: number, fractionBits: number): number {
  const sign = (bits >> (exponentBits + fractionBits)) & 1 ? -1 : 1;
  const top = (1 << exponentBits) - 1;
  const exponent = (bits >> fractionBits) & top;
  const fraction = bits & ((1 << fractionBits) - 1);
  const bias = (1 << (exponentBits - 1)) - 1;
  if (exponent === top) return fraction === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return sign * fraction * 2 ** (1 - bias - fractionBits);
  return sign * (1 + fraction / 2 ** fractionBits) * 2 ** (exponent - bias);
}

/** Nearest integer, ties to the even one (`rint`). */
export function roundTiesToEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}
