import { rangeText, type InputRange } from '../../containers/protocol/index.js';
import { ServiceError } from '../errors/index.js';

/** @param length elements that the linked models take; undefined: any number but 0 */
export function wrongLength(count: number, length: number | undefined, field: string): ServiceError {
  if (count === 0) return new ServiceError('empty_input', `${field} has no element`, field);
  return new ServiceError('wrong_length', `the linked models take ${length} elements, ${count} came`, field);
}

/** @param field of the element, @param value that came */
export function outsideRange(value: unknown, range: InputRange | undefined, field: string): ServiceError {
  const message = `${field} must be ${rangeText(range)} for the linked models, ${String(value)} came`;
  return new ServiceError('number_out_of_range', message, field);
}
