import { FEATURE_NAME, MOST_FEATURES, type Features } from '../../selection/index.js';
import { describeValue, ServiceError } from '../errors/index.js';
import { ExactInteger } from '../json/index.js';

/**
 * Features as a client sends them, whatever it sends.
 * @param field what errors call them
 * @throws ServiceError that names the field, or the feature in it, and the fix
 */
export function readFeatures(value: unknown, field = 'features'): Features | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value) || ArrayBuffer.isView(value)) {
    throw new ServiceError(
      'wrong_type',
      `${field} must be an object of numbers, such as {"hour": 14}; ${describeValue(value)} came`,
      field,
    );
  }
  const entries = Object.entries(value);
  checkCount(entries.length, field);
  const features: Record<string, number> = {};
  for (const [name, one] of entries) features[name] = readFeature(name, one, field);
  return features;
}

/**
 * Those of a batch: the same for all its inputs, or an object for each of them.
 * @throws ServiceError that names the field, or the feature in it, and the fix
 */
export function readBatchFeatures(
  value: unknown,
  inputs: number,
): Features | readonly (Features | undefined)[] | undefined {
  if (!Array.isArray(value)) return readFeatures(value);
  if (value.length !== inputs) {
    const message = `features must be one object, or an array with one for each of the ${inputs} inputs; ${describeValue(value)} came`;
    throw new ServiceError('invalid_value', message, 'features');
  }
  return value.map((one, at) => readFeatures(one ?? undefined, `features[${at}]`));
}

/** @throws ServiceError */
export function checkCount(count: number, field: string): void {
  if (count <= MOST_FEATURES) return;
  const message = `${field} may have at most ${MOST_FEATURES} numbers, ${count} came`;
  throw new ServiceError('invalid_value', message, field);
}

/** @throws ServiceError naming the feature */
export function readFeature(name: string, value: unknown, field: string): number {
  if (!FEATURE_NAME.test(name)) {
    const shown = name.length <= 64 ? name : `${name.slice(0, 61)}...`;
    const message = `${field}: the name ${JSON.stringify(shown)} must have 1 to 64 of A-Z a-z 0-9 . _ - and begin with a letter or digit`;
    throw new ServiceError('invalid_value', message, field);
  }
  const number = value instanceof ExactInteger ? value.near : value;
  const path = `${field}.${name}`;
  if (typeof number !== 'number') {
    throw new ServiceError('wrong_type', `${path} must be a number, ${describeValue(value)} came`, path);
  }
  if (!Number.isFinite(number)) {
    throw new ServiceError('number_out_of_range', `${path} must be a finite number, ${number} came`, path);
  }
  return number;
}
