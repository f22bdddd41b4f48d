import { PolicyError, type Json } from './policy.js';

export type JsonObject = { readonly [key: string]: Json };

/**
 * Parameters as an object; null stands for an empty one.
 * @throws PolicyError when they are no object, or hold a name that is not in `known`.
 */
export function parameterObject(policy: string, parameters: Json, known: readonly string[]): JsonObject {
  if (parameters === null) return {};
  if (typeof parameters !== 'object' || isList(parameters)) {
    throw new PolicyError('parameters', `policy '${policy}' takes an object of parameters or null`);
  }
  for (const name of Object.keys(parameters)) {
    if (!known.includes(name)) {
      const offer = known.length === 0 ? 'it takes none' : `it takes ${known.join(', ')}`;
      throw new PolicyError(`parameters.${name}`, `policy '${policy}' has no parameter '${name}': ${offer}`);
    }
  }
  return parameters;
}

/** @throws PolicyError when the parameter is there and no number in (low, high]. */
export function numberIn(
  parameters: JsonObject,
  name: string,
  low: number,
  high: number,
  byDefault: number,
): number {
  const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  if (value === undefined) return byDefault;
  if (typeof value !== 'number' || !(value > low && value <= high)) {
    throw new PolicyError(
      `parameters.${name}`,
      `${name} must be a number above ${low} and at most ${high}, not ${JSON.stringify(value)}`,
    );
  }
  return value;
}

/** @throws PolicyError when the parameter is there and no number in [0, 1]. */
export function shareFrom(parameters: JsonObject, name: string, byDefault: number): number {
  const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  if (value === undefined) return byDefault;
  if (typeof value !== 'number' || !(value >= 0 && value <= 1)) {
    throw new PolicyError(
      `parameters.${name}`,
      `${name} must be a number from 0 to 1, not ${JSON.stringify(value)}`,
    );
  }
  return value;
}

/** @throws PolicyError when the parameter is there and neither null nor a number in (1, 1e9]. */
export function numberOrNull(parameters: JsonObject, name: string, byDefault: number | null): number | null {
  const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  if (value === undefined) return byDefault;
  if (value !== null && (typeof value !== 'number' || !(value > 1 && value <= 1e9))) {
    throw new PolicyError(
      `parameters.${name}`,
      `${name} must be a number above 1 and at most 1e9, or null, not ${JSON.stringify(value)}`,
    );
  }
  return value;
}

/** @throws PolicyError when the parameter is there and no string with at least one character. */
export function optionalName(parameters: JsonObject, name: string): string | null {
  const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string' || value === '') {
    throw new PolicyError(
      `parameters.${name}`,
      `${name} must be the name of a model, not ${JSON.stringify(value)}`,
    );
  }
  return value;
}

/** Numbers by the names of models, null unless given. @throws PolicyError when one is not above 0 and at most `most` */
export function numbersByModel(
  parameters: JsonObject,
  name: string,
  most: number,
): Readonly<Record<string, number>> | null {
  const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  if (value === undefined || value === null) return null;
  const form = `${name} must be an object of numbers by the names of models, such as {"small": 1}`;
  if (typeof value !== 'object' || isList(value)) {
    throw new PolicyError(`parameters.${name}`, `${form}, not ${JSON.stringify(value)}`);
  }
  const numbers: Record<string, number> = {};
  for (const [model, one] of Object.entries(value)) {
    if (typeof one !== 'number' || !(one > 0 && one <= most)) {
      const message = `${name}.${model} must be a number above 0 and at most ${most}, not ${JSON.stringify(one)}`;
      throw new PolicyError(`parameters.${name}.${model}`, message);
    }
    numbers[model] = one;
  }
  return numbers;
}

/** Models that parameters name: those that serve or are tried, those with a share or a price. */
export function armsNamed(parameters: Json): readonly string[] {
  if (typeof parameters !== 'object' || parameters === null || isList(parameters)) return [];
  const { model, candidate, split, costs } = parameters;
  const single = [model, candidate].filter((name) => typeof name === 'string');
  const each = [split, costs].flatMap((numbers) =>
    typeof numbers === 'object' && numbers !== null && !isList(numbers) ? Object.keys(numbers) : [],
  );
  return [...new Set([...single, ...each])];
}

/** @throws PolicyError when an arm appears twice. */
export function distinctArms(arms: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  for (const arm of arms) {
    if (seen.has(arm)) throw new PolicyError('arms', `model '${arm}' is listed twice`);
    seen.add(arm);
  }
  return [...arms];
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
