import { isUtf8 } from 'node:buffer';
import { ELEMENT_BYTES, type InputType } from '../../../containers/protocol/index.js';
import { ServiceError } from '../../errors/index.js';
import { wrongLength } from '../inputs.js';

/**
 * Checks an input that came as bytes: what `encodeInput` checks of one that came as JSON.
 * @param type of the application
 * @param sent what the client says that it sends
 * @param length elements that the linked models take; undefined: any number but 0
 */
export function checkBinaryInput(
  type: InputType,
  sent: InputType,
  input: Uint8Array,
  length: number | undefined,
): ServiceError | undefined {
  if (sent !== type) {
    return new ServiceError('wrong_type', `the application takes ${type}, ${sent} came`, 'input_type');
  }
  const count = input.length / ELEMENT_BYTES[type];
  if (count === 0 || (length !== undefined && count !== length)) return wrongLength(count, length, 'input');
  switch (type) {
    case 'doubles':
      return finiteDoubles(input);
    case 'floats':
      return finiteFloats(input);
    case 'strings':
      return isUtf8(input) ? undefined : new ServiceError('not_utf8', 'input is not valid UTF-8', 'input');
    case 'integers':
    case 'bytes':
      return undefined;
  }
}

/*
 * A number is not finite when all bits of its exponent are set. The bytes are read as they are: a view of another
 * type on a small array makes V8 move its memory out of the heap.
 */
function finiteDoubles(input: Uint8Array): ServiceError | undefined {
  for (let high = 7; high < input.length; high += 8) {
    if ((input[high] & 0x7f) === 0x7f && (input[high - 1] & 0xf0) === 0xf0) return notFinite((high - 7) / 8);
  }
  return undefined;
}

function finiteFloats(input: Uint8Array): ServiceError | undefined {
  for (let high = 3; high < input.length; high += 4) {
    if ((input[high] & 0x7f) === 0x7f && (input[high - 1] & 0x80) !== 0) return notFinite((high - 3) / 4);
  }
  return undefined;
}

function notFinite(index: number): ServiceError {
  const field = `input[${index}]`;
  return new ServiceError('number_out_of_range', `${field} must be finite, NaN or an infinity came`, field);
}
