import { firstOutside, rangeText, type InputForm, type InputRange } from '../../containers/protocol/index.js';
import { ServiceError } from '../errors/index.js';

/** @param length elements that the model, or every linked one, takes; undefined: any number but 0 */
export function wrongLength(count: number, length: number | undefined, field: string): ServiceError {
  if (count === 0) return new ServiceError('empty_input', `${field} has no element`, field);
  return new ServiceError('wrong_length', `${field} must have ${length} elements, ${count} came`, field);
}

/** @param field of the element, @param value that came */
export function outsideRange(value: unknown, range: InputRange | undefined, field: string): ServiceError {
  const message = `${field} must be ${rangeText(range)}, ${String(value)} came`;
  return new ServiceError('number_out_of_range', message, field);
}

/** So many are looked at together. */
const PIECE = 16_384;

/** The first number that is outside a form's range, as its element is written; -1: none is. */
export function firstOutsideForm(numbers: ArrayLike<number>, form: InputForm): number {
  if (form.range === undefined) return -1;
  if (form.type !== 'floats') return firstOutside(numbers, numbers.length, form);
  const written = new Float32Array(Math.min(PIECE, numbers.length));
  for (let from = 0; from < numbers.length; from += PIECE) {
    const count = Math.min(PIECE, numbers.length - from);
    for (let at = 0; at < count; at++) written[at] = numbers[from + at];
    const outside = firstOutside(written, count, form);
    if (outside >= 0) return from + outside;
  }
  return -1;
}
