import { isUtf8 } from 'node:buffer';
import {
  ELEMENT_BYTES,
  elementCount,
  firstOutside,
  type InputForm,
  type InputType,
} from '../../containers/protocol/index.js';
import { ServiceError } from '../errors/index.js';
import { outsideRange, wrongLength } from './inputErrors.js';
import { asNumbers } from './inputScratch.js';

/**
 * Checks an input that came as bytes: what `encodeInput` checks of one that came as JSON.
 * @param form what the linked models take
 * @param field what an error calls the input: `input`, `input_batch[3].b64`
 */
export function checkBinaryInput(
  form: InputForm,
  input: Uint8Array,
  field: string,
): ServiceError | undefined {
  const { type, length } = form;
  const elementBytes = ELEMENT_BYTES[type];
  if (input.length % elementBytes !== 0) {
    const message = `${field} must have a multiple of ${elementBytes} bytes, as ${type} do; ${input.length} came`;
    return new ServiceError('wrong_length', message, field);
  }
  if (input.length === 0) return wrongLength(0, length, field);
  if (length !== undefined) {
    const count = elementCount(type, input);
    if (count !== length) return wrongLength(count, length, field);
  }
  return wrongContent(form, input, field) ?? outOfRange(form, input, field);
}

function outOfRange(form: InputForm, input: Uint8Array, field: string): ServiceError | undefined {
  const { type, range } = form;
  if (range === undefined || type === 'strings') return undefined;
  const values = asNumbers(type, input);
  const outside = firstOutside(values, input.length / ELEMENT_BYTES[type], form);
  return outside < 0 ? undefined : outsideRange(values[outside], range, `${field}[${outside}]`);
}

function wrongContent(form: InputForm, input: Uint8Array, field: string): ServiceError | undefined {
  // Where NaN may come, the range tells it from infinities.
  if (form.range?.missing === true) return undefined;
  switch (form.type) {
    case 'doubles':
      return finiteDoubles(input, field);
    case 'floats':
      return finiteFloats(input, field);
    case 'strings':
      return isUtf8(input) ? undefined : new ServiceError('not_utf8', `${field} is not valid UTF-8`, field);
    case 'integers':
    case 'bytes':
      return undefined;
  }
}

/** What the client says that it sends must be what the application takes. */
export function checkInputType(type: InputType, sent: InputType): ServiceError | undefined {
  if (sent === type) return undefined;
  return new ServiceError('wrong_type', `the application takes ${type}, ${sent} came`, 'input_type');
}

/*
 * A number is not finite when all bits of its exponent are set. The bytes are read as they are: a view of another
 * type on a small array makes V8 move its memory out of the heap.
 */
function finiteDoubles(input: Uint8Array, field: string): ServiceError | undefined {
  for (let high = 7; high < input.length; high += 8) {
    if ((input[high] & 0x7f) === 0x7f && (input[high - 1] & 0xf0) === 0xf0) {
      return notFinite((high - 7) / 8, field);
    }
  }
  return undefined;
}

function finiteFloats(input: Uint8Array, field: string): ServiceError | undefined {
  for (let high = 3; high < input.length; high += 4) {
    if ((input[high] & 0x7f) === 0x7f && (input[high - 1] & 0x80) !== 0) {
      return notFinite((high - 3) / 4, field);
    }
  }
  return undefined;
}

function notFinite(index: number, input: string): ServiceError {
  const field = `${input}[${index}]`;
  return new ServiceError('number_out_of_range', `${field} must be finite, NaN or an infinity came`, field);
}
