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
export const INT32 = 6;
export const INT64 = 7;
export const DOUBLE = 11;

/** Data is little-endian, as this machine is; it is copied first, so that it begins where a view may. */
export const READ_TYPES: Readonly<Record<number, ReadType>> = {
  [FLOAT]: { bytes: 4, read: (data) => Float64Array.from(new Float32Array(data.slice().buffer)) },
  [INT32]: { bytes: 4, read: (data) => Float64Array.from(new Int32Array(data.slice().buffer)) },
  [INT64]: { bytes: 8, read: (data) => Float64Array.from(new BigInt64Array(data.slice().buffer), Number) },
  [DOUBLE]: { bytes: 8, read: (data) => new Float64Array(data.slice().buffer) },
};

/** More values than this are no weights of a model that could run here. */
export const MOST_VALUES = 2 ** 31;
