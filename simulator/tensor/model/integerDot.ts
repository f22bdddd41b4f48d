import type { ElementType } from '../forms/index.js';
import type { IntegerModel } from './parameters.js';

const limit = 2 ** 31;

/** A stored element of an integer type as a number. */
export function integerValue(type: ElementType, bits: number): number {
  switch (type) {
    case 's8':
      return (bits << 24) >> 24;
    case 'u8':
      return bits & 0xff;
    case 's4':
      return (bits << 28) >> 28;
    case 'u4':
      return bits & 0xf;
    case 's32':
      return bits | 0;
    case 'b1':
      return bits & 1;
    case 'f16':
    case 'bf16':
    case 'tf32':
    case 'f32':
    case 'f64':
    case 'e4m3':
    case 'e5m2':
      throw new RangeError(`${type} is no integer`);
  }
}

/** How two elements are joined: their product, or of bits whether both are set, or one of them. */
export type Join = 'product' | 'and' | 'xor';

/**
 * Bits of one element of an integer product; sums are exact in doubles.
 * @param aAt index of the first element of A; the others follow
 * @param bAt indices of the elements of B
 */
export function integerDot(
  a: Int32Array,
  b: Int32Array,
  c: number,
  { clamping, blockLength }: IntegerModel,
  join: Join,
  isClamped: boolean,
  aAt: number,
  bAt: Int32Array,
): number {
  let sum = c;
  for (let at = 0; at < bAt.length; at++) {
    const left = a[aAt + at] ?? 0;
    const right = b[bAt[at] ?? 0] ?? 0;
    sum += join === 'product' ? left * right : join === 'and' ? left & right : left ^ right;
    if (isClamped && clamping === 'blocks' && (at + 1) % blockLength === 0) sum = clamp(sum);
  }
  return (isClamped ? clamp(sum) : sum) >>> 0;
}

function clamp(sum: number): number {
  return Math.max(-limit, Math.min(limit - 1, sum));
}
