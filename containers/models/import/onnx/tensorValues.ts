/** A DataType of onnx.proto that values are read of: its bytes, and what they mean. */
interface ReadType {
  readonly bytes: number;
  read(data: Uint8Array): Float64Array;
}

/** Names of data types by number. */
export const DATA_TYPES: Readonly<Record<number, string>> = {
  1: 'float',
  2: 'uint8',
  3: 'int8',
  4: 'uint16',
  5: 'int16',
  6: 'int32',
  7: 'int64',
  8: 'string',
  9: 'bool',
  10: 'float16',
  11: 'double',
  12: 'uint32',
  13: 'uint64',
  14: 'complex64',
  15: 'complex128',
  16: 'bfloat16',
};
export const FLOAT = 1;
export const UINT8 = 2;
export const INT8 = 3;
export const INT32 = 6;
export const INT64 = 7;
export const STRING = 8;
export const BOOL = 9;
export const FLOAT16 = 10;
export const DOUBLE = 11;
export const BFLOAT16 = 16;

/** Values of a float16 by its bits. */
export function halfOf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Values of a bfloat16 by its bits: the upper half of a float. */
export function brainFloatOf(bits: number): number {
  return new Float32Array(Uint32Array.of(bits << 16).buffer)[0];
}

/** Data is little-endian, as this machine is; it is copied first, so that it begins where a view may. */
export const READ_TYPES: Readonly<Record<number, ReadType>> = {
  [FLOAT]: { bytes: 4, read: (data) => Float64Array.from(new Float32Array(data.slice().buffer)) },
  [UINT8]: { bytes: 1, read: (data) => Float64Array.from(data) },
  [INT8]: { bytes: 1, read: (data) => Float64Array.from(new Int8Array(data.slice().buffer)) },
  4: { bytes: 2, read: (data) => Float64Array.from(new Uint16Array(data.slice().buffer)) },
  5: { bytes: 2, read: (data) => Float64Array.from(new Int16Array(data.slice().buffer)) },
  [INT32]: { bytes: 4, read: (data) => Float64Array.from(new Int32Array(data.slice().buffer)) },
  [INT64]: { bytes: 8, read: (data) => Float64Array.from(new BigInt64Array(data.slice().buffer), Number) },
  [BOOL]: { bytes: 1, read: (data) => Float64Array.from(data, (value) => (value === 0 ? 0 : 1)) },
  [FLOAT16]: { bytes: 2, read: (data) => Float64Array.from(new Uint16Array(data.slice().buffer), halfOf) },
  [DOUBLE]: { bytes: 8, read: (data) => new Float64Array(data.slice().buffer) },
  12: { bytes: 4, read: (data) => Float64Array.from(new Uint32Array(data.slice().buffer)) },
  13: { bytes: 8, read: (data) => Float64Array.from(new BigUint64Array(data.slice().buffer), Number) },
  [BFLOAT16]: {
    bytes: 2,
    read: (data) => Float64Array.from(new Uint16Array(data.slice().buffer), brainFloatOf),
  },
};

/** How values of a type are kept on the device: whole numbers exactly up to 2^53, conditions as 0 and 1. */
export function elementOfType(dataType: number): 'f32' | 'f64' {
  return dataType === FLOAT || dataType === FLOAT16 || dataType === BFLOAT16 || dataType === BOOL
    ? 'f32'
    : 'f64';
}

export function isWholeType(dataType: number): boolean {
  return (dataType >= UINT8 && dataType <= INT64) || dataType === 12 || dataType === 13;
}

export function typeName(dataType: number): string {
  return DATA_TYPES[dataType] ?? `data type ${dataType}`;
}

/** More values than this are no weights of a model that could run here. */
export const MOST_VALUES = 2 ** 31;
