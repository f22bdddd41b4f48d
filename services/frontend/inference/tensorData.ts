import {
  ELEMENT_BYTES,
  firstOutside,
  type InputForm,
  type InputType,
} from '../../../containers/protocol/index.js';
import { describeValue, ServiceError } from '../../errors/index.js';
import { checkBinaryInput } from '../binaryInputs.js';
import { outsideRange } from '../inputErrors.js';
import { encodeInput } from '../inputs.js';
import { MAX_FLOAT32 } from '../schemas.js';
import { binaryNumberRows, binaryTextRows } from './binaryData.js';
import { DATATYPES, INPUT_DATATYPES, type Datatype } from './datatypes.js';

const MAX_RANK = 8;

/** One tensor of a request, its JSON not yet checked. */
export interface InputTensor {
  readonly name: string;
  readonly datatype: unknown;
  readonly shape: unknown;
  readonly data: unknown;
  /** What came in place of `data`. */
  readonly binary: Buffer | undefined;
  /** Elements of BYTES are base64, by the tensor's parameter `content_type`. */
  readonly isBase64: boolean;
}

/**
 * The rows of a tensor, each the bytes of one input: little-endian, UTF-8 for text.
 * @param form what a row must be
 * @param maxRows of the first dimension
 * @param field what errors call the tensor: `inputs[0]`
 * @throws ServiceError before anything is allocated that the data does not fill
 */
export function tensorRows(
  form: InputForm,
  tensor: InputTensor,
  maxRows: number,
  field: string,
): Uint8Array[] {
  const { type, length } = form;
  const datatype = checkDatatype(type, tensor.datatype, field);
  const shape = checkShape(tensor.shape, maxRows, field);
  const rowElements = shape.slice(1).reduce((product, size) => product * size, 1);
  const wanted = datatype === 'BYTES' ? 1 : length;
  if (wanted !== undefined && rowElements !== wanted) {
    const allowed = datatype === 'BYTES' ? '[n] or [n, 1]' : `[n, ${wanted}]`;
    throw new ServiceError(
      'wrong_length',
      `${field}.shape must be ${allowed}, [${shape.join(', ')}] came`,
      field,
    );
  }
  const { binary, isBase64 } = tensor;
  if (binary !== undefined) {
    const named = `${field} ('${tensor.name}')`;
    return datatype === 'BYTES'
      ? binaryTextRows(form, binary, shape[0], isBase64, named)
      : binaryNumberRows(form, binary, shape[0], rowElements, named);
  }
  const elements = flatten(tensor.data, shape, `${field}.data`);
  return datatype === 'BYTES'
    ? textRows(form, elements, isBase64, `${field}.data`)
    : numberRows(form, elements, shape[0], rowElements, `${field}.data`);
}

function checkDatatype(type: InputType, datatype: unknown, field: string): Datatype {
  const allowed = INPUT_DATATYPES[type];
  const found = DATATYPES.find((one) => one === datatype);
  if (found !== undefined && allowed.includes(found)) return found;
  const place = `${field}.datatype`;
  if (datatype === undefined) throw new ServiceError('missing_field', `${place} is required`, place);
  const message =
    found === undefined
      ? `${place} must be one of ${DATATYPES.join(', ')}, ${describeValue(datatype)} came`
      : `${place} must be ${allowed.join(' or ')} here, ${found} came`;
  throw new ServiceError('invalid_value', message, place);
}

function checkShape(shape: unknown, maxRows: number, field: string): readonly number[] {
  const place = `${field}.shape`;
  if (shape === undefined) throw new ServiceError('missing_field', `${place} is required`, place);
  if (!Array.isArray(shape)) {
    throw new ServiceError('wrong_type', `${place} must be an array, ${describeValue(shape)} came`, place);
  }
  const sizes: readonly unknown[] = shape;
  if (sizes.length < 1 || sizes.length > MAX_RANK) {
    const message = `${place} must have 1 to ${MAX_RANK} dimensions, ${sizes.length} came`;
    throw new ServiceError('invalid_value', message, place);
  }
  const checked = sizes.map((size, at) => {
    if (typeof size === 'number' && Number.isSafeInteger(size) && size >= 1) return size;
    const message = `${place}[${at}] must be a whole number from 1, ${describeValue(size)} came`;
    throw new ServiceError(size === 0 ? 'empty_input' : 'invalid_value', message, place);
  });
  if (checked[0] > maxRows) {
    const message = `${place}[0] may be at most ${maxRows} rows, ${checked[0]} came`;
    throw new ServiceError('batch_too_large', message, place);
  }
  return checked;
}

/** Elements in row-major order. Data is flat, or nested exactly as the shape says. */
function flatten(data: unknown, shape: readonly number[], place: string): readonly unknown[] {
  if (data === undefined) throw new ServiceError('missing_field', `${place} is required`, place);
  if (!Array.isArray(data)) {
    throw new ServiceError('wrong_type', `${place} must be an array, ${describeValue(data)} came`, place);
  }
  const elements: readonly unknown[] = data;
  const total = shape.reduce((product, size) => product * size, 1);
  if (shape.length === 1 || !Array.isArray(elements[0])) {
    if (elements.length === total) return elements;
    const message = `${place} has ${elements.length} elements, the shape [${shape.join(', ')}] has ${total}`;
    throw new ServiceError('wrong_length', message, place);
  }
  const flat: unknown[] = [];
  collect(elements, shape, 0, place, flat);
  return flat;
}

function collect(
  part: unknown,
  shape: readonly number[],
  depth: number,
  place: string,
  into: unknown[],
): void {
  if (!Array.isArray(part)) {
    const message = `${place} must be an array of ${shape[depth]}, ${describeValue(part)} came`;
    throw new ServiceError('wrong_type', message, place);
  }
  const elements: readonly unknown[] = part;
  if (elements.length !== shape[depth]) {
    const message = `${place} has ${elements.length} elements, the shape says ${shape[depth]}`;
    throw new ServiceError('wrong_length', message, place);
  }
  if (depth === shape.length - 1) for (const element of elements) into.push(element);
  else elements.forEach((inner, at) => collect(inner, shape, depth + 1, `${place}[${at}]`, into));
}

function textRows(
  form: InputForm,
  elements: readonly unknown[],
  isBase64: boolean,
  place: string,
): Uint8Array[] {
  // Bytes that are sent as their text are counted once they are bytes.
  const isText = form.type === 'bytes' && !isBase64;
  const as: InputForm = isText ? { type: 'strings' } : form;
  return elements.map((element, at) => {
    if (typeof element !== 'string') {
      const where = `${place}[${at}]`;
      throw new ServiceError(
        'wrong_type',
        `${where} must be a string, ${describeValue(element)} came`,
        where,
      );
    }
    const where = `${place}[${at}]`;
    const row = encodeInput(as, element, where);
    const wrong = row instanceof ServiceError ? row : isText ? checkBinaryInput(form, row, where) : undefined;
    if (wrong !== undefined) throw wrong;
    return row as Uint8Array;
  });
}

/** What an element of each type may be. */
const RANGES = {
  floats: { fits: (value: number) => Math.abs(value) <= MAX_FLOAT32, says: 'a finite number of FP32' },
  doubles: { fits: (value: number) => Number.isFinite(value), says: 'a finite number of FP64' },
  integers: { fits: (value: number) => (value | 0) === value, says: 'a whole number of INT32' },
  bytes: { fits: (value: number) => (value & 255) === value, says: 'a whole number from 0 to 255' },
  strings: { fits: () => false, says: 'a string' },
} as const satisfies Record<InputType, { fits(value: number): boolean; says: string }>;

function numberRows(
  form: InputForm,
  elements: readonly unknown[],
  rows: number,
  rowElements: number,
  place: string,
): Uint8Array[] {
  const { type, range } = form;
  const { fits, says } = RANGES[type];
  const values = arrayOf(type, elements.length);
  for (let at = 0; at < elements.length; at++) {
    const element = elements[at];
    if (typeof element !== 'number' || !fits(element)) {
      const code = typeof element === 'number' ? 'number_out_of_range' : 'wrong_type';
      const where = `${place}[${at}]`;
      throw new ServiceError(code, `${where} must be ${says}, ${describeValue(element)} came`, where);
    }
    values[at] = element;
  }
  if (range !== undefined) {
    const outside = firstOutside(values, values.length, form);
    if (outside >= 0) throw outsideRange(elements[outside], range, `${place}[${outside}]`);
  }
  const rowBytes = rowElements * ELEMENT_BYTES[type];
  return Array.from({ length: rows }, (_, row) => new Uint8Array(values.buffer, row * rowBytes, rowBytes));
}

function arrayOf(type: InputType, length: number): Float64Array | Float32Array | Int32Array | Uint8Array {
  switch (type) {
    case 'doubles':
      return new Float64Array(length);
    case 'floats':
      return new Float32Array(length);
    case 'integers':
      return new Int32Array(length);
    case 'bytes':
    case 'strings':
      return new Uint8Array(length);
  }
}
