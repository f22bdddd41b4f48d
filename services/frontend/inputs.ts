import { firstOutside, type InputForm } from '../../containers/protocol/index.js';
import { describeValue, ServiceError } from '../errors/index.js';
import { LongNumbers } from '../json/index.js';
import { checkBinaryInput } from './binaryInputs.js';
import { firstOutsideForm, outsideRange, wrongLength } from './inputErrors.js';
import { scratchFor, takeScratch } from './inputScratch.js';
import { MAX_FLOAT32 } from './schemas.js';

export { wrongLength };

/* The hand-written twin of `inputSchemas`: it checks and encodes in one pass (a test holds the two to each other). */

/**
 * The input as bytes of its type, little-endian.
 * @param form what the linked models take
 * @param field what an error calls the input: `input`, `input_batch[3]`
 * @returns an error in place of the bytes when the value is no such input
 */
export function encodeInput(form: InputForm, value: unknown, field: string): Uint8Array | ServiceError {
  switch (form.type) {
    case 'doubles':
    case 'floats':
    case 'integers':
      return encodeNumbers(form.type, form, value, field);
    case 'bytes':
      return encodeBase64(form, value, field);
    case 'strings':
      return encodeString(form, value, field);
  }
}

function encodeNumbers(
  type: 'doubles' | 'floats' | 'integers',
  form: InputForm,
  value: unknown,
  field: string,
): Uint8Array | ServiceError {
  if (value instanceof LongNumbers) return encodeLong(type, form, value, field);
  if (!Array.isArray(value)) {
    return encodeTyped(form, value, field) ?? wrongType(value, field, `an array of ${type}`);
  }
  const { length } = form;
  const elements: readonly unknown[] = value;
  const count = elements.length;
  if (count === 0 || (length !== undefined && count !== length)) return wrongLength(count, length, field);
  const target = scratchFor(type, count);
  let failed: number;
  if (form.range?.missing === true) failed = writeWithMissing(elements, target, type);
  else if (type === 'doubles') failed = writeDoubles(elements, target);
  else if (type === 'floats') failed = writeFloats(elements, target);
  else failed = writeIntegers(elements, target);
  if (failed >= 0) return wrongElement(type, elements[failed], `${field}[${failed}]`);
  if (form.range !== undefined) {
    const outside = firstOutside(target, count, form);
    if (outside >= 0) return outsideRange(elements[outside], form.range, `${field}[${outside}]`);
  }
  return takeScratch(type === 'doubles' ? count * 8 : count * 4);
}

/** In the memory in which the numbers lie: fresh memory of that size would cost others more time than all the rest. */
function encodeLong(
  type: 'doubles' | 'floats' | 'integers',
  form: InputForm,
  list: LongNumbers,
  field: string,
): Uint8Array | ServiceError {
  const { length } = form;
  if (length !== undefined && list.length !== length) return wrongLength(list.length, length, field);
  const { numbers, odd } = list;
  const failed = firstUnfit(type, numbers);
  if (failed >= 0) return wrongElement(type, numbers[failed], `${field}[${failed}]`);
  if (odd !== undefined) return wrongElement(type, odd.value, `${field}[${odd.index}]`);
  const outside = firstOutsideForm(numbers, form);
  if (outside >= 0) return outsideRange(numbers[outside], form.range, `${field}[${outside}]`);
  const encoded = list.encode(type);
  return new Uint8Array(encoded.buffer, 0, encoded.byteLength);
}

/** Loops, since of millions of numbers a callback for each takes five times as long. */
function firstUnfit(type: 'doubles' | 'floats' | 'integers', numbers: Float64Array): number {
  const { length } = numbers;
  if (type === 'integers') {
    for (let at = 0; at < length; at++) if ((numbers[at] | 0) !== numbers[at]) return at;
    return -1;
  }
  const most = type === 'floats' ? MAX_FLOAT32 : Number.MAX_VALUE;
  for (let at = 0; at < length; at++) if (!(Math.abs(numbers[at]) <= most)) return at;
  return -1;
}

type Numbers = Float64Array | Float32Array | Int32Array;

/** Writers return the index of the first element that does not fit, -1 when all do. */
function writeDoubles(elements: readonly unknown[], target: Numbers): number {
  for (let index = 0; index < elements.length; index++) {
    const element = elements[index];
    // x - x is 0 for finite numbers only.
    if (typeof element !== 'number' || element - element !== 0) return index;
    target[index] = element;
  }
  return -1;
}

/** Floats or doubles of which some are null: a value that is missing. */
function writeWithMissing(
  elements: readonly unknown[],
  target: Numbers,
  type: 'doubles' | 'floats' | 'integers',
): number {
  const largest = type === 'floats' ? MAX_FLOAT32 : Number.MAX_VALUE;
  for (let index = 0; index < elements.length; index++) {
    const element = elements[index];
    if (element === null) {
      target[index] = NaN;
      continue;
    }
    if (typeof element !== 'number' || !(element >= -largest && element <= largest)) return index;
    target[index] = element;
  }
  return -1;
}

function writeFloats(elements: readonly unknown[], target: Numbers): number {
  for (let index = 0; index < elements.length; index++) {
    const element = elements[index];
    if (typeof element !== 'number' || !(element >= -MAX_FLOAT32 && element <= MAX_FLOAT32)) return index;
    target[index] = element;
  }
  return -1;
}

function writeIntegers(elements: readonly unknown[], target: Numbers): number {
  for (let index = 0; index < elements.length; index++) {
    const element = elements[index];
    if (typeof element !== 'number' || (element | 0) !== element) return index;
    target[index] = element;
  }
  return -1;
}

/**
 * An input of any type as TensorFlow Serving writes bytes in JSON: `{"b64": "…"}`.
 * @returns undefined when the value is not written so
 */
function encodeTyped(form: InputForm, value: unknown, field: string): Uint8Array | ServiceError | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'b64')) return undefined;
  const { b64 } = value as { readonly b64: unknown };
  const place = `${field}.b64`;
  const bytes = readBase64(b64, place);
  return bytes instanceof ServiceError ? bytes : (checkBinaryInput(form, bytes, place) ?? bytes);
}

function encodeBase64(form: InputForm, value: unknown, field: string): Uint8Array | ServiceError {
  if (typeof value !== 'string') {
    return encodeTyped(form, value, field) ?? wrongType(value, field, 'a base64 string');
  }
  const bytes = readBase64(value, field);
  return bytes instanceof ServiceError ? bytes : (checkBinaryInput(form, bytes, field) ?? bytes);
}

function readBase64(value: unknown, field: string): Uint8Array | ServiceError {
  if (typeof value !== 'string') return wrongType(value, field, 'a base64 string');
  // Node decodes whatever it can; only text that it would write itself, up to the unused bits, is base64.
  if (value.length % 4 !== 0 || !BASE64.test(value)) {
    return new ServiceError('invalid_base64', `${field} must be standard base64 with padding`, field);
  }
  const bytes = Buffer.from(value, 'base64');
  // Small buffers are parts of a pool that would live as long as the input does.
  if (bytes.buffer.byteLength !== bytes.length) return new Uint8Array(bytes);
  return new Uint8Array(bytes.buffer, 0, bytes.length);
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const UTF8 = new TextEncoder();

function encodeString(form: InputForm, value: unknown, field: string): Uint8Array | ServiceError {
  if (typeof value !== 'string') {
    const { columns } = form;
    return (
      encodeTyped(form, value, field) ??
      (columns === undefined ? wrongType(value, field, 'a string') : encodeRow(columns, value, field))
    );
  }
  const bytes = UTF8.encode(value);
  const { length } = form;
  if (bytes.length === 0 || (length !== undefined && value.length !== length)) {
    return wrongLength(value.length, length, field);
  }
  return bytes;
}

/** A row as the JSON text of its values: it came as a list, or as an object by the names of its columns. */
function encodeRow(columns: readonly string[], value: unknown, field: string): Uint8Array | ServiceError {
  const values = rowValues(columns, value, field);
  if (values instanceof ServiceError) return values;
  if (values.length !== columns.length) return wrongLength(values.length, columns.length, field);
  for (let at = 0; at < values.length; at++) {
    const one = values[at];
    const isScalar =
      one === null || typeof one === 'string' || Number.isFinite(one) || typeof one === 'boolean';
    if (!isScalar) return wrongType(one, `${field}[${at}]`, 'a string, a finite number, true, false or null');
  }
  return UTF8.encode(JSON.stringify(values));
}

function rowValues(
  columns: readonly string[],
  value: unknown,
  field: string,
): readonly unknown[] | ServiceError {
  if (value instanceof LongNumbers) {
    const { odd, numbers } = value;
    return odd === undefined
      ? Array.from(numbers)
      : wrongElement('doubles', odd.value, `${field}[${odd.index}]`);
  }
  if (Array.isArray(value)) return value as readonly unknown[];
  if (typeof value !== 'object' || value === null) {
    return wrongType(value, field, 'a list with a value for each column, or an object by their names');
  }
  const row = value as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(row).find((name) => !columns.includes(name));
  const absent = columns.find((name) => !Object.hasOwn(row, name));
  if (unknown === undefined && absent === undefined) return columns.map((name) => row[name]);
  const what =
    absent === undefined ? `has no column '${unknown}'` : `needs a value for the column '${absent}'`;
  const shown = columns.slice(0, 32).join(', ');
  const message = `${field}: the model ${what}; its columns are ${shown}${columns.length > 32 ? ', …' : ''}`;
  return new ServiceError(absent === undefined ? 'invalid_value' : 'missing_field', message, field);
}

function wrongType(value: unknown, field: string, expected: string): ServiceError {
  return new ServiceError('wrong_type', `${field} must be ${expected}, ${describeValue(value)} came`, field);
}

const RANGES = {
  doubles: 'a finite number',
  floats: `a number from -${MAX_FLOAT32} to ${MAX_FLOAT32}`,
  integers: 'a whole number from -2147483648 to 2147483647',
} as const;

function wrongElement(type: keyof typeof RANGES, element: unknown, field: string): ServiceError {
  const code = typeof element === 'number' ? 'number_out_of_range' : 'wrong_type';
  return new ServiceError(code, `${field} must be ${RANGES[type]}, ${describeValue(element)} came`, field);
}
