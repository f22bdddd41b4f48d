import { smallFloatBits, smallFloatValue, type SmallFloat } from './smallFloats.js';

/** Element types of buffers, and kinds of scalar arguments. */
export const ELEMENT_TYPES = [
  'f32',
  'f64',
  'f16',
  'bf16',
  'i32',
  'u32',
  'i64',
  'u64',
  'i16',
  'u16',
  'i8',
  'u8',
] as const;

export type ElementType = (typeof ELEMENT_TYPES)[number];

export type ElementArray =
  | Float32Array
  | Float64Array
  | SmallFloatArray
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Int16Array
  | Uint16Array
  | Int8Array
  | Uint8Array;

/** Floats of 16 bits, as their bits in memory. */
export class SmallFloatArray {
  constructor(
    readonly type: SmallFloat,
    private readonly bits: Uint16Array,
  ) {}

  get length(): number {
    return this.bits.length;
  }

  get(index: number): number {
    return smallFloatValue(this.type, this.bits[index]);
  }

  set(index: number, value: number): void {
    this.bits[index] = smallFloatBits(this.type, value);
  }
}

const BYTES: Readonly<Record<ElementType, number>> = {
  f32: 4,
  f64: 8,
  f16: 2,
  bf16: 2,
  i32: 4,
  u32: 4,
  i64: 8,
  u64: 8,
  i16: 2,
  u16: 2,
  i8: 1,
  u8: 1,
};

export function elementBytes(type: ElementType): number {
  return BYTES[type];
}

/** Little-endian elements over bytes; the bytes must start at a multiple of the element's size. */
export function elements(type: ElementType, bytes: Uint8Array): ElementArray {
  const { buffer, byteOffset } = bytes;
  const count = bytes.length / BYTES[type];
  switch (type) {
    case 'f32':
      return new Float32Array(buffer, byteOffset, count);
    case 'f64':
      return new Float64Array(buffer, byteOffset, count);
    case 'f16':
    case 'bf16':
      return new SmallFloatArray(type, new Uint16Array(buffer, byteOffset, count));
    case 'i32':
      return new Int32Array(buffer, byteOffset, count);
    case 'u32':
      return new Uint32Array(buffer, byteOffset, count);
    case 'i64':
      return new BigInt64Array(buffer, byteOffset, count);
    case 'u64':
      return new BigUint64Array(buffer, byteOffset, count);
    case 'i16':
      return new Int16Array(buffer, byteOffset, count);
    case 'u16':
      return new Uint16Array(buffer, byteOffset, count);
    case 'i8':
      return new Int8Array(buffer, byteOffset, count);
    case 'u8':
      return new Uint8Array(buffer, byteOffset, count);
  }
}

/** What a text of a spec says: digits of an integer, or one of `NaN`, `Infinity` and `-Infinity`. */
export function valueOfText(text: string): number | bigint {
  return isNonFinite(text) ? Number(text) : BigInt(text);
}

/** Whether a text is what stands for a float that no number of JSON is. */
export function isNonFinite(text: string): boolean {
  return text === 'NaN' || text === 'Infinity' || text === '-Infinity';
}

/** An element as a number; of 64-bit integers the nearest one. */
export function elementAt(from: ElementArray, index: number): number {
  return from instanceof SmallFloatArray ? from.get(index) : Number(from[index]);
}

/**
 * Stores a number as the element type does: floats to the nearest, integers toward zero, wrapped to their width.
 * @throws RangeError for an infinity or NaN where integers are held.
 */
export function storeElement(into: ElementArray, index: number, value: number | bigint): void {
  if (into instanceof SmallFloatArray) {
    into.set(index, Number(value));
    return;
  }
  if (
    typeof value === 'number' &&
    !Number.isFinite(value) &&
    !(into instanceof Float32Array || into instanceof Float64Array)
  ) {
    throw new RangeError(`element ${index} would be ${value}, which no integer type holds`);
  }
  if (into instanceof BigInt64Array || into instanceof BigUint64Array) {
    into[index] = typeof value === 'bigint' ? value : BigInt(Math.trunc(value));
  } else into[index] = Number(value);
}
