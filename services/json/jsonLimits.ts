import { ServiceError } from '../errors/index.js';

/** How deep arrays and objects may be nested. */
export const MAX_DEPTH = 64;

/** Keys of one object. */
export const MAX_KEYS = 1024;

/** Arrays, objects and strings of a body: each costs memory and time far beyond its bytes. */
export const MAX_PARTS = 262_144;

/** Values of a body, numbers among them. */
export const MAX_VALUES = 4_194_304;

/** Of one number: a double has no more than 767 digits that matter. */
export const MAX_NUMBER_BYTES = 1024;

export function tooLongNumber(): ServiceError {
  const message = `a number of the JSON has more than ${MAX_NUMBER_BYTES} characters`;
  return new ServiceError('json_too_complex', message);
}

export function tooDeep(): ServiceError {
  return new ServiceError('json_too_complex', `the JSON is nested deeper than ${MAX_DEPTH} levels`);
}

export function tooManyKeys(): ServiceError {
  return new ServiceError('json_too_complex', `an object of the JSON has more than ${MAX_KEYS} keys`);
}

export function tooManyParts(): ServiceError {
  const message = `the JSON has more than ${MAX_PARTS} arrays, objects and strings`;
  return new ServiceError('json_too_complex', message);
}

export function tooManyValues(): ServiceError {
  return new ServiceError('json_too_complex', `the JSON has more than ${MAX_VALUES} values`);
}
