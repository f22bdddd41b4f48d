import { isUtf8 } from 'node:buffer';
import { ELEMENT_BYTES, type InputForm } from '../../../containers/protocol/index.js';
import type { NamedTensor } from '../../../containers/models/index.js';
import { describeValue, ServiceError } from '../../errors/index.js';
import { LongNumbers } from '../../json/index.js';
import { firstOutsideForm, outsideRange } from '../inputErrors.js';
import { MAX_FLOAT32 } from '../schemas.js';
import type { Datatype } from './datatypes.js';
import { checkShape, type InputTensor } from './tensorData.js';
import { binaryTextRows } from './binaryData.js';
import { leavesOf, rowsOf, type InputRows, type Leaf } from './tensorRows.js';

type NumberDatatype = Exclude<Datatype, 'BYTES'>;

interface NumberType {
  readonly bytes: number;
  readonly says: string;
  fits(value: number): boolean;
  read(view: DataView, offset: number): number;
}

/** Values from `low` to `high`. */
function whole(
  bytes: number,
  low: number,
  high: number,
  read: (view: DataView, offset: number) => number,
): NumberType {
  return {
    bytes,
    says: `a whole number from ${low} to ${high}`,
    fits: (value) => Number.isInteger(value) && value >= low && value <= high,
    read,
  };
}

/** What elements of each datatype are. Whole numbers of 64 bits are taken as far as doubles count. */
const NUMBER_TYPES: Readonly<Record<NumberDatatype, NumberType>> = {
  BOOL: whole(1, 0, 1, (view, at) => view.getUint8(at)),
  UINT8: whole(1, 0, 255, (view, at) => view.getUint8(at)),
  INT8: whole(1, -128, 127, (view, at) => view.getInt8(at)),
  UINT16: whole(2, 0, 65_535, (view, at) => view.getUint16(at, true)),
  INT16: whole(2, -32_768, 32_767, (view, at) => view.getInt16(at, true)),
  UINT32: whole(4, 0, 2 ** 32 - 1, (view, at) => view.getUint32(at, true)),
  INT32: whole(4, -(2 ** 31), 2 ** 31 - 1, (view, at) => view.getInt32(at, true)),
  UINT64: whole(8, 0, Number.MAX_SAFE_INTEGER, (view, at) => Number(view.getBigUint64(at, true))),
  INT64: whole(8, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, (view, at) =>
    Number(view.getBigInt64(at, true)),
  ),
  FP16: {
    bytes: 2,
    says: 'a finite number of FP16',
    fits: (value) => Math.abs(value) < 65_520,
    read: (view, at) => halfOf(view.getUint16(at, true)),
  },
  FP32: {
    bytes: 4,
    says: 'a finite number of FP32',
    fits: (value) => Math.abs(value) <= MAX_FLOAT32,
    read: (view, at) => view.getFloat32(at, true),
  },
  FP64: {
    bytes: 8,
    says: 'a finite number of FP64',
    fits: Number.isFinite,
    read: (view, at) => view.getFloat64(at, true),
  },
};

function halfOf(bits: number): number {
  const sign = (bits & 0x8000) === 0 ? 1 : -1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** What an item's values must fit, which may be narrower than a tensor's own datatype. */
const ITEM_TYPES = { floats: 'FP32', doubles: 'FP64', integers: 'INT32', bytes: 'UINT8' } as const;

/** A tensor that a row is a part of, and where it came in the request. */
export interface GivenTensor {
  readonly declared: NamedTensor;
  readonly given: InputTensor;
  readonly field: string;
}

/**
 * Rows that are put together of several tensors, or of one whose datatype is not that of the model's input.
 * @param form of the rows
 * @throws ServiceError that names the first element that cannot be
 */
export function namedRows(form: InputForm, tensors: readonly GivenTensor[], maxRows: number): InputRows {
  const { parts, count } = partsOf(tensors, maxRows, (tensor, shape) => valuesOf(form, tensor, shape));
  const length = parts.reduce((sum, { elements }) => sum + elements, 0);
  return {
    count,
    bytes: count * length * ELEMENT_BYTES[form.type],
    row: (index) => {
      const row = packed(form, length);
      let at = 0;
      for (const { values, elements } of parts) {
        row.set(values.subarray(index * elements, (index + 1) * elements), at);
        at += elements;
      }
      return new Uint8Array(row.buffer);
    },
  };
}

/** Numbers of which some are missing, whatever a model makes of that: it says so itself. */
const NUMBERS: InputForm = { type: 'doubles', range: { missing: true } };
const UTF8 = new TextEncoder();

/**
 * Rows of columns, of which some are strings: each the JSON list of its values.
 * @throws ServiceError that names the first element that cannot be
 */
export function columnRows(tensors: readonly GivenTensor[], maxRows: number): InputRows {
  const { parts, count } = partsOf(tensors, maxRows, (tensor, shape): ArrayLike<string | number | null> =>
    tensor.declared.datatype === 'BYTES' ? textsOf(tensor, shape) : valuesOf(NUMBERS, tensor, shape),
  );
  const rows = Array.from({ length: count }, (_, index) => {
    const row = parts.flatMap(({ values, elements }) =>
      Array.from({ length: elements }, (_value, k) => values[index * elements + k]),
    );
    return UTF8.encode(JSON.stringify(row));
  });
  return rowsOf(rows);
}

function textsOf({ given, field }: GivenTensor, shape: readonly number[]): readonly (string | null)[] {
  const place = `${field}.datatype`;
  if (given.datatype !== 'BYTES') {
    const message = `${place} must be BYTES here, ${describeValue(given.datatype)} came`;
    throw new ServiceError(given.datatype === undefined ? 'missing_field' : 'invalid_value', message, place);
  }
  const { binary } = given;
  const total = shape.reduce((product, size) => product * size, 1);
  if (binary !== undefined) {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const form = { type: 'bytes' } as const;
    return binaryTextRows(form, binary, total, false, `${field} ('${given.name}')`).map((bytes) => {
      if (isUtf8(bytes)) return decoder.decode(bytes);
      throw new ServiceError('not_utf8', `${field} is not valid UTF-8`, field);
    });
  }
  return leavesOf(given.data, shape, `${field}.data`)
    .flatMap((leaf) => [...leaf])
    .map((element, at) => {
      // null is a value that is missing.
      if (typeof element === 'string' || element === null) return element;
      const where = `${field}.data[${at}]`;
      throw new ServiceError(
        'wrong_type',
        `${where} must be a string, ${describeValue(element)} came`,
        where,
      );
    });
}

interface Part<V> {
  readonly elements: number;
  readonly values: V;
}

/** The tensors' values, as many rows of each. */
function partsOf<V>(
  tensors: readonly GivenTensor[],
  maxRows: number,
  read: (tensor: GivenTensor, shape: readonly number[]) => V,
): { readonly parts: readonly Part<V>[]; readonly count: number } {
  const parts = tensors.map((tensor) => {
    const shape = checkShape(tensor.given.shape, maxRows, tensor.field);
    const elements = shape.slice(1).reduce((product, size) => product * size, 1);
    const wanted = tensor.declared.shape.reduce((product, size) => product * size, 1);
    if (elements !== wanted) {
      const allowed = ['n', ...tensor.declared.shape].join(', ');
      throw new ServiceError(
        'wrong_length',
        `${tensor.field}.shape must be [${allowed}], [${shape.join(', ')}] came`,
        tensor.field,
      );
    }
    return { field: tensor.field, rows: shape[0], elements, values: read(tensor, shape) };
  });
  const [{ rows: count }] = parts;
  const other = parts.find(({ rows }) => rows !== count);
  if (other !== undefined) {
    throw new ServiceError(
      'wrong_length',
      `${other.field}.shape: ${other.rows} rows, the first tensor has ${count}`,
      other.field,
    );
  }
  return { parts, count };
}

function packed(
  { type }: InputForm,
  length: number,
): Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Uint8Array<ArrayBuffer> {
  switch (type) {
    case 'floats':
      return new Float32Array(length);
    case 'doubles':
      return new Float64Array(length);
    case 'integers':
      return new Int32Array(length);
    case 'bytes':
    case 'strings':
      return new Uint8Array(length);
  }
}

function valuesOf(
  form: InputForm,
  { declared, given, field }: GivenTensor,
  shape: readonly number[],
): Float64Array {
  const datatype = checkDatatype(declared, given.datatype, field);
  const total = shape.reduce((product, size) => product * size, 1);
  const own = NUMBER_TYPES[datatype];
  const item = form.type === 'strings' ? own : NUMBER_TYPES[ITEM_TYPES[form.type]];
  const values =
    given.binary === undefined
      ? listed(given, shape, field, datatype)
      : binaryValues(given.binary, own, total, field);
  const place = given.binary === undefined ? `${field}.data` : `${field} ('${given.name}')`;
  const takesMissing = form.range?.missing === true;
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    if (takesMissing && Number.isNaN(value)) continue;
    if (own.fits(value) && item.fits(value)) continue;
    const { says } = own.fits(value) ? item : own;
    throw new ServiceError(
      'number_out_of_range',
      `${place}[${at}] must be ${says}, ${value} came`,
      `${place}[${at}]`,
    );
  }
  const outside = firstOutsideForm(values, form);
  if (outside >= 0) throw outsideRange(values[outside], form.range, `${place}[${outside}]`);
  return values;
}

function listed(
  given: InputTensor,
  shape: readonly number[],
  field: string,
  datatype: NumberDatatype,
): Float64Array {
  const place = `${field}.data`;
  const leaves = leavesOf(given.data, shape, place);
  const values = new Float64Array(shape.reduce((product, size) => product * size, 1));
  let at = 0;
  for (const leaf of leaves) at = putLeaf(leaf, values, at, place, datatype);
  return values;
}

function putLeaf(
  leaf: Leaf,
  values: Float64Array,
  start: number,
  place: string,
  datatype: NumberDatatype,
): number {
  const refuse = (element: unknown, at: number): ServiceError => {
    const where = `${place}[${at}]`;
    const { says } = NUMBER_TYPES[datatype];
    return new ServiceError('wrong_type', `${where} must be ${says}, ${describeValue(element)} came`, where);
  };
  if (leaf instanceof LongNumbers) {
    if (leaf.odd !== undefined) throw refuse(leaf.odd.value, start + leaf.odd.index);
    values.set(leaf.numbers, start);
    return start + leaf.numbers.length;
  }
  leaf.forEach((element, k) => {
    if (typeof element === 'number') values[start + k] = element;
    else if (typeof element === 'boolean' && datatype === 'BOOL') values[start + k] = element ? 1 : 0;
    // JSON has no NaN: null is a value that is missing, where the model takes that.
    else if (element === null) values[start + k] = NaN;
    else throw refuse(element, start + k);
  });
  return start + leaf.length;
}

function binaryValues(binary: Buffer, type: NumberType, total: number, field: string): Float64Array {
  if (binary.length !== total * type.bytes) {
    throw new ServiceError(
      'wrong_length',
      `${field}: binary_data_size is ${binary.length}, the shape has ${total * type.bytes} bytes`,
      'binary_data_size',
    );
  }
  const view = new DataView(binary.buffer, binary.byteOffset, binary.length);
  return Float64Array.from({ length: total }, (_, at) => type.read(view, at * type.bytes));
}

function checkDatatype(
  { datatype: declared }: NamedTensor,
  datatype: unknown,
  field: string,
): NumberDatatype {
  const place = `${field}.datatype`;
  if (datatype === undefined) throw new ServiceError('missing_field', `${place} is required`, place);
  if (declared === 'BYTES') throw new ServiceError('internal', 'a tensor of texts has no numbers');
  if (datatype === declared) return declared;
  // What is computed of FP16 is FP32 in any case.
  if (declared === 'FP16' && datatype === 'FP32') return 'FP32';
  throw new ServiceError(
    'invalid_value',
    `${place} must be ${declared} here, ${describeValue(datatype)} came`,
    place,
  );
}
