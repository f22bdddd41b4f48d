import { TENSOR_MAP, TENSOR_TYPES, type TensorType } from '../ptx/index.js';

/** What `cuTensorMapEncodeTiled` takes, dimensions innermost first. */
export interface TensorMap {
  readonly address: number;
  readonly type: TensorType;
  /** Elements of each dimension. */
  readonly size: readonly number[];
  /** Bytes from one element to the next, of each dimension but the innermost. */
  readonly strideBytes: readonly number[];
  /** Elements of each dimension that a copy goes through. */
  readonly box: readonly number[];
  /** How far each of its steps goes, 1 by default; the innermost dimension is copied whole whatever its step. */
  readonly step?: readonly number[] | undefined;
  /** Bytes of a row of shared memory within which pieces of 16 bytes change places: 0 (default), 32, 64 or 128. */
  readonly swizzleBytes?: number | undefined;
  /** What stands for elements outside: zeros by default. */
  readonly fill?: 'zeros' | 'nan' | undefined;
}

export const TENSOR_MAP_BYTES = TENSOR_MAP.bytes;
/** Where it lies is a multiple of this. */
export const TENSOR_MAP_ALIGN = TENSOR_MAP.align;

/** A field of a map that no copy could follow. */
export class TensorMapError extends Error {
  constructor(
    readonly field: keyof TensorMap,
    message: string,
  ) {
    super(message);
    this.name = 'TensorMapError';
  }
}

const mostDimensions = 5;
const mostBox = 256;
const mostStep = 8;
const mostStride = 2 ** 40;
const mostSize = 2 ** 32;
/** Bits of an address that are xored three places below, by the bytes within which pieces change places. */
const swizzles: Readonly<Record<number, number>> = { 0: 0, 32: 0x80, 64: 0x180, 128: 0x380 };
/** The one NaN of each type, as the card's arithmetic has it: what a copy fills in has not been measured. */
const nans: Partial<Record<TensorType, number>> = {
  f16: 0x7fff7fff,
  bf16: 0x7fff7fff,
  f32: 0x7fffffff,
  f64: 0x7fffffff,
};

/**
 * The 128 bytes of a tensor map, of tiles without interleaving.
 * @throws TensorMapError that names the field and what would do
 */
export function encodeTensorMap(map: TensorMap): Uint8Array {
  const { address, type, size, strideBytes, box, swizzleBytes = 0, fill = 'zeros' } = map;
  const step = map.step ?? size.map(() => 1);
  const { code, bytes } = TENSOR_TYPES[type];
  checkLengths(map, step);
  if (address % 16 !== 0) fail('address', `0x${address.toString(16)} is no multiple of 16; align the tensor`);
  eachWithin('size', size, 1, mostSize);
  eachWithin('box', box, 1, mostBox);
  eachWithin('step', step, 1, mostStep);
  strideBytes.forEach((stride, index) => {
    if (!Number.isInteger(stride) || stride < 0 || stride >= mostStride || stride % 16 !== 0)
      fail(`strideBytes`, `[${index}] is ${stride}; a stride is a multiple of 16 below 2^40: pad the rows`);
  });
  const row = box[0] * bytes;
  if (row % 16 !== 0)
    fail('box', `[0] is ${box[0]}, ${row} bytes a row; a row of the box is a multiple of 16 bytes`);
  const swizzle = swizzles[swizzleBytes];
  if (swizzle === undefined) fail('swizzleBytes', `is ${swizzleBytes}; expected 0, 32, 64 or 128`);
  if (swizzleBytes > 0 && row > swizzleBytes)
    fail(
      'box',
      `[0] is ${box[0]}, ${row} bytes a row; swizzled by ${swizzleBytes} a row has at most as many`,
    );
  if (fill === 'nan' && nans[type] === undefined)
    fail('fill', `nan is for floats, not for ${type}; give zeros`);
  const encoded = new Uint8Array(TENSOR_MAP.bytes);
  const view = new DataView(encoded.buffer);
  const word = (at: number, value: number): void => view.setUint32(at, value, true);
  const wide = (at: number, value: number): void => view.setBigUint64(at, BigInt(value), true);
  wide(TENSOR_MAP.base, address);
  word(TENSOR_MAP.type, code);
  word(TENSOR_MAP.rank, size.length);
  word(TENSOR_MAP.sizeLog, Math.log2(bytes));
  word(TENSOR_MAP.swizzle, swizzle);
  word(TENSOR_MAP.fill, fill === 'nan' ? (nans[type] ?? 0) : 0);
  for (let d = 0; d < mostDimensions; d++) {
    word(TENSOR_MAP.box + 4 * d, box[d] ?? 1);
    word(TENSOR_MAP.step + 4 * d, d === 0 ? 1 : (step[d] ?? 1));
    word(TENSOR_MAP.last + 4 * d, (size[d] ?? 1) - 1);
    if (d > 0) wide(TENSOR_MAP.strides + 8 * (d - 1), strideBytes[d - 1] ?? 0);
  }
  return encoded;
}

function checkLengths({ size, strideBytes, box }: TensorMap, step: readonly number[]): void {
  const rank = size.length;
  if (rank < 1 || rank > mostDimensions)
    fail('size', `has ${rank} dimensions; expected 1 to ${mostDimensions}`);
  if (strideBytes.length !== rank - 1)
    fail(
      'strideBytes',
      `has ${strideBytes.length} values; expected ${rank - 1}, one of each dimension but the innermost`,
    );
  if (box.length !== rank) fail('box', `has ${box.length} values; expected ${rank}, one of each dimension`);
  if (step.length !== rank)
    fail('step', `has ${step.length} values; expected ${rank}, one of each dimension`);
}

function eachWithin(
  field: 'size' | 'box' | 'step',
  values: readonly number[],
  least: number,
  most: number,
): void {
  values.forEach((value, index) => {
    if (!Number.isInteger(value) || value < least || value > most)
      fail(field, `[${index}] is ${value}; expected an integer of ${least} to ${most}`);
  });
}

function fail(field: keyof TensorMap, message: string): never {
  throw new TensorMapError(field, `${field}${message.startsWith('[') ? '' : ' '}${message}`);
}
