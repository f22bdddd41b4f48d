import {
  ELEMENT_BYTES,
  firstOutside,
  inputNumbers,
  type InputForm,
} from '../../../containers/protocol/index.js';
import { ServiceError } from '../../errors/index.js';
import { checkBinaryInput } from '../binaryInputs.js';
import { outsideRange } from '../inputErrors.js';
import { encodeInput } from '../inputs.js';
import type { OutputDatatype } from './datatypes.js';

/** The header that says how many bytes of a body are JSON; the rest is binary data of tensors. */
export const JSON_LENGTH_HEADER = 'inference-header-content-length';

/** Bytes before each element of BYTES: its length. */
const LENGTH_BYTES = 4;

/** What follows the JSON of a request: the binary data of its tensors, in their order, without gaps. */
export class BinaryPart {
  private offset = 0;

  /** @param bytes undefined: the request did not say that there is any. */
  constructor(private readonly bytes: Buffer | undefined) {}

  /**
   * The next `size` bytes.
   * @param tensor what errors call it
   */
  take(size: number, tensor: string): Buffer {
    if (this.bytes === undefined) {
      throw new ServiceError(
        'missing_field',
        `${tensor} has binary data, so the request needs the header Inference-Header-Content-Length`,
        'Inference-Header-Content-Length',
      );
    }
    const left = this.bytes.length - this.offset;
    if (size > left) {
      throw new ServiceError(
        'wrong_length',
        `${tensor}: binary_data_size is ${size}, and ${left} bytes are left behind the JSON`,
        'binary_data_size',
      );
    }
    const taken = this.bytes.subarray(this.offset, this.offset + size);
    this.offset += size;
    return taken;
  }

  /** @throws ServiceError when there is more than the tensors have said. */
  end(): void {
    const left = this.bytes === undefined ? 0 : this.bytes.length - this.offset;
    if (left === 0) return;
    throw new ServiceError(
      'wrong_length',
      `${left} bytes follow the binary data of the last input: their sizes and the header do not add up`,
      'Inference-Header-Content-Length',
    );
  }
}

/**
 * Rows of numbers, each the bytes of one input.
 * @param tensor what errors call it
 */
export function binaryNumberRows(
  form: InputForm,
  bytes: Buffer,
  rows: number,
  rowElements: number,
  tensor: string,
): Uint8Array[] {
  const { type, range } = form;
  const rowBytes = rowElements * ELEMENT_BYTES[type];
  if (bytes.length !== rows * rowBytes) {
    throw new ServiceError(
      'wrong_length',
      `${tensor}: binary_data_size is ${bytes.length}, the shape has ${rows * rowBytes} bytes`,
      'binary_data_size',
    );
  }
  // A copy: the body may begin anywhere in memory, and goes.
  const copy = new Uint8Array(bytes);
  if (type === 'strings') throw new ServiceError('internal', 'a text has no rows of numbers');
  const values = inputNumbers(type, copy);
  const bad = firstOutside(values, values.length, form);
  if (bad >= 0 && Number.isFinite(values[bad])) throw outsideRange(values[bad], range, `${tensor}[${bad}]`);
  if (bad >= 0) {
    const message = `${tensor}: element ${bad} must be finite, NaN or an infinity came`;
    throw new ServiceError('number_out_of_range', message, tensor);
  }
  return Array.from({ length: rows }, (_, row) => copy.subarray(row * rowBytes, (row + 1) * rowBytes));
}

/**
 * Rows of BYTES: `rows` elements, each its length in four bytes and its bytes.
 * @param isBase64 the elements are base64
 * @param form what a row must be
 * @param tensor what errors call it
 */
export function binaryTextRows(
  form: InputForm,
  bytes: Buffer,
  rows: number,
  isBase64: boolean,
  tensor: string,
): Uint8Array[] {
  const found: Uint8Array[] = [];
  let offset = 0;
  for (let row = 0; row < rows; row++) {
    const element = `${tensor}: element ${row}`;
    const left = bytes.length - offset - LENGTH_BYTES;
    if (left < 0) {
      const message = `${element} is missing: ${rows} are in the shape, and binary_data_size is ${bytes.length}`;
      throw new ServiceError('wrong_length', message, tensor);
    }
    const size = bytes.readUInt32LE(offset);
    if (size > left) {
      throw new ServiceError('wrong_length', `${element} has ${size} bytes, ${left} are left`, tensor);
    }
    offset += LENGTH_BYTES;
    const content = bytes.subarray(offset, offset + size);
    offset += size;
    found.push(elementBytes(form, content, isBase64, element));
  }
  if (offset === bytes.length) return found;
  const message = `${tensor}: ${bytes.length - offset} bytes follow the last of ${rows} elements`;
  throw new ServiceError('wrong_length', message, tensor);
}

function elementBytes(form: InputForm, content: Buffer, isBase64: boolean, element: string): Uint8Array {
  if (form.type === 'bytes' && isBase64) {
    const decoded = encodeInput(form, content.toString('latin1'), element);
    if (decoded instanceof ServiceError) throw decoded;
    return decoded;
  }
  const wrong = checkBinaryInput(form, content, element);
  if (wrong !== undefined) throw wrong;
  return new Uint8Array(content);
}

/** Of INT64 a bigint: a number has but 53 bits. */
export type OutputElement = string | number | bigint;

/** The elements of an output tensor as bytes. */
export function binaryTensor(datatype: OutputDatatype, elements: readonly OutputElement[]): Uint8Array {
  switch (datatype) {
    case 'BYTES':
      return binaryTexts(elements.map(String));
    case 'FP32':
      return bytesOf(Float32Array.from(elements, Number));
    case 'FP64':
      return bytesOf(Float64Array.from(elements, Number));
    case 'INT32':
      return bytesOf(Int32Array.from(elements, Number));
    case 'INT64':
      return bytesOf(BigInt64Array.from(elements, (element) => BigInt(element)));
    case 'UINT64':
      return bytesOf(BigUint64Array.from(elements, (element) => BigInt(element)));
    case 'UINT32':
      return bytesOf(Uint32Array.from(elements, Number));
    case 'INT16':
      return bytesOf(Int16Array.from(elements, Number));
    case 'UINT16':
      return bytesOf(Uint16Array.from(elements, Number));
    case 'INT8':
      return bytesOf(Int8Array.from(elements, Number));
    case 'BOOL':
    case 'UINT8':
      return bytesOf(Uint8Array.from(elements, Number));
  }
}

function bytesOf({ buffer }: { readonly buffer: ArrayBuffer }): Uint8Array {
  return new Uint8Array(buffer);
}

function binaryTexts(texts: readonly string[]): Uint8Array {
  const total = texts.reduce((sum, text) => sum + LENGTH_BYTES + Buffer.byteLength(text), 0);
  const bytes = Buffer.alloc(total);
  let offset = 0;
  for (const text of texts) {
    const size = bytes.write(text, offset + LENGTH_BYTES, 'utf8');
    bytes.writeUInt32LE(size, offset);
    offset += LENGTH_BYTES + size;
  }
  return bytes;
}
