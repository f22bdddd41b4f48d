/**
 * Integer operations on what registers hold. Up to 32 bits: JS numbers, signed or unsigned as the operation's type
 * says; results are int32 (32-bit) or to be wrapped by the caller. 64 bits: BigInt in the same manner.
 */

/** High 32 bits of a signed product. */
export function multiplyHigh32(a: number, b: number): number {
  return Number((BigInt(a | 0) * BigInt(b | 0)) >> 32n) | 0;
}

/** High 32 bits of an unsigned product. */
export function multiplyHighUnsigned32(a: number, b: number): number {
  return Number((BigInt(a >>> 0) * BigInt(b >>> 0)) >> 32n) | 0;
}

/** Shift left; counts of the width and beyond give zero. The count is unsigned 32 bits. */
export function shiftLeft(a: number, count: number, bits: 16 | 32): number {
  const by = count >>> 0;
  return by >= bits ? 0 : a << by;
}

/** Shift right with zeros; `a` unsigned. */
export function shiftRight(a: number, count: number, bits: 16 | 32): number {
  const by = count >>> 0;
  return by >= bits ? 0 : a >>> by;
}

/** Shift right with copies of the sign; `a` signed. Counts beyond the width give all sign. */
export function shiftRightSigned(a: number, count: number, bits: 16 | 32): number {
  return a >> Math.min(count >>> 0, bits - 1);
}

export function shiftLeft64(a: bigint, count: number): bigint {
  const by = count >>> 0;
  return by >= 64 ? 0n : BigInt.asUintN(64, a << BigInt(by));
}

/** `a` as BigInt of the shift's signedness. */
export function shiftRight64(a: bigint, count: number): bigint {
  return a >> BigInt(Math.min(count >>> 0, 64));
}

/** Funnel shift of `high:low` to the left: the high word of the result. */
export function funnelLeft(low: number, high: number, count: number, clamp: boolean): number {
  const by = clamp ? Math.min(count >>> 0, 32) : count & 31;
  if (by === 0) return high | 0;
  return by === 32 ? low | 0 : (high << by) | (low >>> (32 - by));
}

/** Funnel shift of `high:low` to the right: the low word of the result. */
export function funnelRight(low: number, high: number, count: number, clamp: boolean): number {
  const by = clamp ? Math.min(count >>> 0, 32) : count & 31;
  if (by === 0) return low | 0;
  return by === 32 ? high | 0 : (high << (32 - by)) | (low >>> by);
}

export function populationCount(a: number): number {
  let rest = a >>> 0;
  rest -= (rest >>> 1) & 0x55555555;
  rest = (rest & 0x33333333) + ((rest >>> 2) & 0x33333333);
  return Math.imul((rest + (rest >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

export function reverseBits(a: number): number {
  let rest = a;
  rest = ((rest >>> 1) & 0x55555555) | ((rest & 0x55555555) << 1);
  rest = ((rest >>> 2) & 0x33333333) | ((rest & 0x33333333) << 2);
  rest = ((rest >>> 4) & 0x0f0f0f0f) | ((rest & 0x0f0f0f0f) << 4);
  rest = ((rest >>> 8) & 0x00ff00ff) | ((rest & 0x00ff00ff) << 8);
  return (rest >>> 16) | (rest << 16);
}

/** Low and high word of 64 bits, both int32. */
export function lowWord(a: bigint): number {
  return Number(BigInt.asIntN(32, a));
}

export function highWord(a: bigint): number {
  return Number(BigInt.asIntN(32, a >> 32n));
}

export function joinWords(low: number, high: number): bigint {
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
}

/** Position of the most significant bit that differs from the sign (or is set, unsigned); −1 when there is none. */
export function findLeadingBit(a: bigint, bits: 32 | 64, isSigned: boolean): number {
  const value = isSigned && a < 0n ? ~a : a;
  const unsigned = BigInt.asUintN(bits, value);
  return unsigned === 0n ? -1 : unsigned.toString(2).length - 1;
}

/** `bfe`: `length` bits from `position`, sign-extended by the field's last bit inside the word when signed. */
export function extractField(
  a: bigint,
  position: number,
  length: number,
  bits: 32 | 64,
  isSigned: boolean,
): bigint {
  const from = position & 0xff;
  const count = length & 0xff;
  const word = BigInt.asUintN(bits, a);
  if (count === 0) return 0n;
  const field = from >= bits ? 0n : (word >> BigInt(from)) & ((1n << BigInt(Math.min(count, bits))) - 1n);
  if (!isSigned) return field;
  const signAt = Math.min(from + count - 1, bits - 1);
  const isNegative = ((word >> BigInt(signAt)) & 1n) === 1n;
  const valid = Math.max(Math.min(count, bits - from), 0);
  return isNegative ? field | (-1n << BigInt(valid)) : field;
}

/** `bfi`: puts the low `length` bits of `a` at `position` of `b`; what passes the word's end is dropped. */
export function insertField(a: bigint, b: bigint, position: number, length: number, bits: 32 | 64): bigint {
  const from = position & 0xff;
  const count = Math.min(length & 0xff, bits);
  if (from >= bits || count === 0) return BigInt.asUintN(bits, b);
  const mask = ((1n << BigInt(count)) - 1n) << BigInt(from);
  return BigInt.asUintN(bits, (b & ~mask) | ((a << BigInt(from)) & mask));
}

/** `bmsk`: ones from bit `position`, `width` of them. */
export function bitMask(position: number, width: number, clamp: boolean): number {
  const from = clamp ? Math.min(position >>> 0, 32) : position & 31;
  const count = clamp ? Math.min(width >>> 0, 32) : width & 31;
  return Number(BigInt.asIntN(32, ((1n << BigInt(count)) - 1n) << BigInt(from)));
}

/** `szext`: keeps the low `width` bits, extended by their sign or with zeros. */
export function extend(a: number, width: number, clamp: boolean, isSigned: boolean): number {
  const count = clamp ? Math.min(width >>> 0, 32) : width & 31;
  if (count === 0) return 0;
  return isSigned ? (a << (32 - count)) >> (32 - count) : (a << (32 - count)) >>> (32 - count);
}

/** `fns`: position of the n-th set bit of a mask from a base, n < 0 searching downwards; −1 when there is none. */
export function findNthSet(mask: number, base: number, offset: number): number {
  const start = base >>> 0;
  const isSet = (at: number): boolean => ((mask >>> at) & 1) === 1;
  if (offset === 0) return start < 32 && isSet(start) ? start : -1;
  let left = Math.abs(offset) - 1;
  const step = offset > 0 ? 1 : -1;
  for (let at = start; at >= 0 && at < 32; at += step) if (isSet(at) && left-- === 0) return at;
  return -1;
}

/** `lop3`: any function of three bits, by its truth table. */
export function logic3(a: number, b: number, c: number, table: number): number {
  let result = 0;
  for (let row = 0; row < 8; row++) {
    if (((table >>> row) & 1) === 0) continue;
    result |= ((row & 4) === 0 ? ~a : a) & ((row & 2) === 0 ? ~b : b) & ((row & 1) === 0 ? ~c : c);
  }
  return result;
}

export type PermuteMode = 'f4e' | 'b4e' | 'rc8' | 'ecl' | 'ecr' | 'rc16';

const permuteTables: Readonly<Record<PermuteMode, readonly number[]>> = {
  f4e: [0x3210, 0x4321, 0x5432, 0x6543],
  b4e: [0x5670, 0x6701, 0x7012, 0x0123],
  rc8: [0x0000, 0x1111, 0x2222, 0x3333],
  ecl: [0x3210, 0x3211, 0x3222, 0x3333],
  ecr: [0x0000, 0x1110, 0x2210, 0x3210],
  rc16: [0x1010, 0x3232, 0x1010, 0x3232],
};

/** `prmt`: picks four bytes of `b:a`; bit 3 of a selector in the plain mode replicates the byte's sign. */
export function permuteBytes(a: number, b: number, selector: number, mode?: PermuteMode): number {
  const selectors = mode === undefined ? selector : (permuteTables[mode][selector & 3] ?? 0);
  let result = 0;
  for (let byte = 0; byte < 4; byte++) {
    const pick = (selectors >>> (4 * byte)) & (mode === undefined ? 0xf : 0x7);
    const word = (pick & 4) === 0 ? a : b;
    let value = (word >>> (8 * (pick & 3))) & 0xff;
    if ((pick & 8) !== 0) value = (value & 0x80) === 0 ? 0 : 0xff;
    result |= value << (8 * byte);
  }
  return result;
}

function part(a: number, index: number, bits: 8 | 16, isSigned: boolean): number {
  const raw = (a >>> (index * bits)) & ((1 << bits) - 1);
  return isSigned ? (raw << (32 - bits)) >> (32 - bits) : raw;
}

/** `dp4a`: c plus the products of the four bytes, wrapping. */
export function dotBytes(a: number, b: number, c: number, aSigned: boolean, bSigned: boolean): number {
  let sum = c;
  for (let i = 0; i < 4; i++) sum = (sum + part(a, i, 8, aSigned) * part(b, i, 8, bSigned)) | 0;
  return sum;
}

/** `dp2a`: c plus the products of a's two half-words with the low or high two bytes of b, wrapping. */
export function dotHalves(
  a: number,
  b: number,
  c: number,
  aSigned: boolean,
  bSigned: boolean,
  high: boolean,
): number {
  let sum = c;
  for (let i = 0; i < 2; i++) {
    sum = (sum + part(a, i, 16, aSigned) * part(b, i + (high ? 2 : 0), 8, bSigned)) | 0;
  }
  return sum;
}
