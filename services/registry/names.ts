import { describeValue, ServiceError } from '../errors/index.js';

/**
 * Names of applications and models, and versions: characters that need no escape in a URL, in JSON, in a metric's label
 * or in a store's key. A letter or digit first keeps `.`, `..` and `__proto__` out.
 */
export const NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** First parts of paths that the interfaces keep for themselves, now or in the protocols to come. */
export const RESERVED_APPLICATION_NAMES: readonly string[] = [
  'admin',
  'dashboard',
  'healthz',
  'metrics',
  'openapi.json',
  'readyz',
  'v1',
  'v2',
];

/** @throws ServiceError `invalid_name` */
export function checkName(name: string, field: string): void {
  if (!NAME_PATTERN.test(name)) {
    throw new ServiceError(
      'invalid_name',
      `${field} must have 1 to 64 of A-Z a-z 0-9 . _ - and begin with a letter or digit, ${describeValue(name)} came`,
      field,
    );
  }
}

/** @throws ServiceError `invalid_name` */
export function checkApplicationName(name: string, field: string): void {
  checkName(name, field);
  if (RESERVED_APPLICATION_NAMES.includes(name)) {
    throw new ServiceError('invalid_name', `${field} '${name}' is reserved; choose another`, field);
  }
}
