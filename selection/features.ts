import { PolicyError, type Json } from './policy.js';
import type { JsonObject } from './parameters.js';

/** Of one query, and of those that a policy can name. */
export const MOST_FEATURES = 64;

/** How names of features are written. */
export const FEATURE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The parameter `features`: names, none unless given. @throws PolicyError naming the name and the fix */
export function featureNames(parameters: JsonObject): readonly string[] {
  const value = Object.hasOwn(parameters, 'features') ? parameters.features : undefined;
  if (value === undefined) return [];
  if (!isList(value)) {
    throw new PolicyError(
      'parameters.features',
      `features must be a list of names such as ["hour", "returning"], not ${JSON.stringify(value)}`,
    );
  }
  if (value.length > MOST_FEATURES) {
    throw new PolicyError(
      'parameters.features',
      `features may be at most ${MOST_FEATURES} names, ${value.length} are given`,
    );
  }
  const names: string[] = [];
  for (const [at, name] of value.entries()) {
    const field = `parameters.features[${at}]`;
    if (typeof name !== 'string' || !FEATURE_NAME.test(name)) {
      throw new PolicyError(
        field,
        `features[${at}] must be a name of 1 to 64 of A-Z a-z 0-9 . _ - that begins with a letter or digit, not ${JSON.stringify(name)}`,
      );
    }
    if (names.includes(name)) throw new PolicyError(field, `the feature '${name}' is listed twice`);
    names.push(name);
  }
  return names;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
