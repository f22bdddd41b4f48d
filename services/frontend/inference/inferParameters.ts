import type { Features } from '../../../selection/index.js';
import { describeValue, ServiceError } from '../../errors/index.js';
import { ExactInteger, jsonText } from '../../json/index.js';
import { checkCount, readFeature } from '../features.js';

export type Fields = Readonly<Record<string, unknown>>;
export type Parameters = Readonly<Record<string, string | number | boolean | ExactInteger>>;

/** Which `parameters` of a request these are. */
export type ParameterPlace = 'request' | 'input' | 'output' | 'repository';

const MAX_PARAMETERS = 64;

/** What names of features begin with among the parameters of a request. */
const FEATURE_PREFIX = 'features.';

/** What other servers do by these parameters is not done here: ignoring them would answer something else. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['sequence_id', 'sequences are not supported'],
  ['shared_memory_region', 'shared memory is not supported: send `data` as JSON or binary data'],
]);

/** Parameters that have a meaning in one place only. */
const PLACES: ReadonlyMap<string, ParameterPlace> = new Map([
  ['binary_data_output', 'request'],
  ['binary_data_size', 'input'],
  ['binary_data', 'output'],
  ['classification', 'output'],
]);

export function readObject(value: unknown, what: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new ServiceError('wrong_type', `${what} must be an object, ${describeValue(value)} came`, what);
}

/** Parameters as they came, once each of them is one that can be. @param field what errors call them */
export function readParameters(value: unknown, field: string, place: ParameterPlace): Parameters | undefined {
  if (value === undefined) return undefined;
  const entries = Object.entries(readObject(value, field));
  const others = entries.filter(([name]) => place !== 'request' || !name.startsWith(FEATURE_PREFIX)).length;
  if (others > MAX_PARAMETERS) {
    throw new ServiceError('invalid_value', `${field} may have at most ${MAX_PARAMETERS} entries`, field);
  }
  for (const [name, one] of entries) {
    const path = `${field}.${name.slice(0, 64)}`;
    const plain = typeof one === 'string' || typeof one === 'boolean' || isFinite(one);
    if (!plain) {
      const message = `${path} must be a string, a number or a boolean, ${describeValue(one)} came`;
      throw new ServiceError('wrong_type', message, path);
    }
    if (place === 'repository') continue;
    const refusal = one === false || one === 0 || one === '' ? undefined : REFUSED.get(name);
    if (refusal !== undefined) throw new ServiceError('not_supported', `${path}: ${refusal}`, path);
    const belongs = PLACES.get(name);
    if (belongs !== undefined && belongs !== place) {
      const message = `${path}: '${name}' is a parameter of ${belongs === 'request' ? 'the request' : `an ${belongs}`}`;
      throw new ServiceError('invalid_value', message, path);
    }
  }
  return value as Parameters;
}

function isFinite(value: unknown): boolean {
  return value instanceof ExactInteger || Number.isFinite(value);
}

/** As they came. */
export function parametersJson(parameters: Parameters): string {
  const texts = Object.entries(parameters).map(([name, value]) => {
    const text = value instanceof ExactInteger ? value.text : jsonText(value);
    return `${JSON.stringify(name)}:${text}`;
  });
  return `{${texts.join(',')}}`;
}

/** One of them; no name reaches an object's prototype. */
function parameter(parameters: Parameters | undefined, name: string): unknown {
  const value = parameters !== undefined && Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  return value instanceof ExactInteger ? value.near : value;
}

export function textParameter(parameters: Parameters | undefined, name: string): string | undefined {
  const value = parameter(parameters, name);
  return typeof value === 'string' ? value : undefined;
}

/** A whole number from 0 to `most`; undefined when it is not there. @param unit what it counts, for errors */
export function countParameter(
  parameters: Parameters | undefined,
  name: string,
  most: number,
  field: string,
  unit = '',
): number | undefined {
  const value = parameter(parameters, name);
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most) return value;
  const path = `${field}.${name}`;
  const message = `${path} must be a whole number${unit} from 0 to ${most}, ${describeValue(value)} came`;
  throw new ServiceError('invalid_value', message, path);
}

/** Parameters `features.NAME`; undefined when there are none. @throws ServiceError that names the parameter */
export function featureParameters(parameters: Parameters | undefined): Features | undefined {
  if (parameters === undefined) return undefined;
  const names = Object.keys(parameters).filter((name) => name.startsWith(FEATURE_PREFIX));
  if (names.length === 0) return undefined;
  const field = 'parameters.features';
  checkCount(names.length, field);
  const features: Record<string, number> = {};
  for (const full of names) {
    const name = full.slice(FEATURE_PREFIX.length);
    features[name] = readFeature(name, parameters[full], field);
  }
  return features;
}

/** true or false; undefined when it is not there. */
export function booleanParameter(
  parameters: Parameters | undefined,
  name: string,
  field: string,
): boolean | undefined {
  const value = parameter(parameters, name);
  if (value === undefined || typeof value === 'boolean') return value;
  const path = `${field}.${name}`;
  throw new ServiceError('wrong_type', `${path} must be a boolean, ${describeValue(value)} came`, path);
}
