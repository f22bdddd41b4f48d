import { LAUNCH_CLASSES, launchClassNamed, type LaunchClass } from '../../containers/protocol/index.js';
import type { Features } from '../../selection/index.js';
import { describeValue, ServiceError } from '../errors/index.js';
import { ExactInteger, LongNumbers } from '../json/index.js';
import { NAME_PATTERN } from '../registry/index.js';
import { readBatchFeatures, readFeatures } from './features.js';
import {
  LOWEST_PRIORITY,
  MOST_LOSSES,
  MAX_CLIENT_BATCH,
  MAX_KEY_LENGTH,
  MAX_LABEL_LENGTH,
  MAX_OBJECTIVE_US,
  MAX_VERSION_LENGTH,
  predictFields,
  updateFields,
} from './schemas.js';

/*
 * The hand-written twin of `predictRequestSchema` and `updateRequestSchema`: a test holds them to each other. Inputs
 * are checked apart, by the application's input type.
 */

/** Fields of a parsed body. JSON.parse makes `__proto__` an own property like any other, so reading names is safe. */
type Fields = Readonly<Record<string, unknown>>;

/** Fields that are read; others are ignored. */
export const PREDICT_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(predictFields),
  'input_batch',
  'votes',
]);
export const UPDATE_FIELDS: ReadonlySet<string> = new Set(Object.keys(updateFields));

export interface PredictRequest {
  /** One of the two is there. */
  readonly input: unknown;
  readonly inputBatch: readonly unknown[] | undefined;
  readonly version: string | undefined;
  readonly context: string;
  /** Microseconds; undefined: the application's own. */
  readonly objectiveUs: number | undefined;
  /** undefined: as a header or the application says. */
  readonly strict: boolean | undefined;
  /** 1 (most urgent) to 5. */
  readonly priority: number | undefined;
  /** Of the launches that compute it; undefined: as a header or the application says. */
  readonly launchClass: LaunchClass | undefined;
  readonly votes: boolean;
  /** Of the input, or of each input of a batch that has none of its own. */
  readonly features: Features | undefined;
  /** One for each input of a batch; undefined: the same for all. */
  readonly batchFeatures: readonly (Features | undefined)[] | undefined;
}

export interface UpdateRequest {
  readonly queryId: string | undefined;
  readonly input: unknown;
  /** undefined: a loss is there. */
  readonly label: string | undefined;
  /** Its own, or what is left of a reward. */
  readonly loss: number | undefined;
  /** Of single models, by name. */
  readonly losses: Readonly<Record<string, number>> | undefined;
  /** With an input. */
  readonly features: Features | undefined;
  readonly idempotencyKey: string | undefined;
  readonly context: string;
}

/**
 * @param maxInputs that a batch may have
 * @throws ServiceError that names the field.
 */
export function readPredictRequest(body: unknown, maxInputs = MAX_CLIENT_BATCH): PredictRequest {
  const fields = readFields(body);
  const { input, input_batch: inputBatch } = fields;
  if (input !== undefined && inputBatch !== undefined) throw onlyOneOf('input', 'input_batch');
  if (input === undefined && inputBatch === undefined) {
    throw new ServiceError('missing_field', 'input or input_batch is required', 'input');
  }
  const votes = readFlag(fields.votes, 'votes') === true;
  if (votes && inputBatch !== undefined) throw onlyOneOf('input_batch', 'votes');
  const batch = inputBatch === undefined ? undefined : readBatch(inputBatch, maxInputs);
  const features =
    batch === undefined ? readFeatures(fields.features) : readBatchFeatures(fields.features, batch.length);
  const isEach = isList(features);
  return {
    input,
    inputBatch: batch,
    features: isEach ? undefined : features,
    batchFeatures: isEach ? features : undefined,
    version: readVersion(fields.version),
    context: readContext(fields),
    objectiveUs: readObjective(fields.latency_slo_micros),
    strict: readFlag(fields.strict, 'strict'),
    priority: readPriority(fields.priority),
    launchClass: readLaunchClass(fields.launch_class),
    votes,
  };
}

/** @throws ServiceError that names the field. */
export function readUpdateRequest(body: unknown): UpdateRequest {
  const fields = nearestDoubles(readFields(body));
  const { input, query_id: queryId, label, loss, idempotency_key: key } = fields;
  if (input !== undefined && queryId !== undefined) throw onlyOneOf('input', 'query_id');
  if (input === undefined && queryId === undefined) {
    throw new ServiceError('missing_field', 'query_id or input is required', 'query_id');
  }
  const { reward, losses } = fields;
  if (label === undefined && loss === undefined && reward === undefined && losses === undefined) {
    throw new ServiceError('missing_field', 'one of label, loss, reward and losses is required', 'label');
  }
  if (loss !== undefined && reward !== undefined) throw onlyOneOf('loss', 'reward');
  if (losses !== undefined && (loss !== undefined || reward !== undefined)) {
    throw onlyOneOf(loss === undefined ? 'reward' : 'loss', 'losses');
  }
  if (queryId !== undefined && fields.features !== undefined) {
    const message =
      'features are remembered with the query that query_id names: give them with an input only';
    throw new ServiceError('conflicting_fields', message, 'features');
  }
  return {
    queryId: queryId === undefined ? undefined : readText(queryId, 'query_id', 1, MAX_KEY_LENGTH),
    input,
    label: label === undefined ? undefined : readLabel(label),
    loss: reward === undefined ? readShare(loss, 'loss') : 1 - (readShare(reward, 'reward') ?? 0),
    losses: readLosses(losses),
    features: readFeatures(fields.features),
    idempotencyKey: key === undefined ? undefined : readText(key, 'idempotency_key', 1, MAX_KEY_LENGTH),
    context: readContext(fields),
  };
}

/** The fields, with doubles for integers that were kept exactly: of all but a label. */
export function nearestDoubles(fields: Fields): Fields {
  let near: Record<string, unknown> | undefined;
  for (const field in fields) {
    const value = fields[field];
    if (value instanceof ExactInteger && field !== 'label') (near ??= { ...fields })[field] = value.near;
  }
  return near ?? fields;
}

function readFields(body: unknown): Fields {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ServiceError('wrong_type', `the body must be a JSON object, ${describeValue(body)} came`);
  }
  return body as Fields;
}

function readBatch(value: unknown, maxInputs: number): readonly unknown[] {
  const isLong = value instanceof LongNumbers;
  if (!isLong && !Array.isArray(value)) throw wrongType('input_batch', 'an array of inputs', value);
  const { length } = value as { readonly length: number };
  if (length === 0) throw new ServiceError('empty_batch', 'input_batch has no input', 'input_batch');
  if (length > maxInputs) {
    throw new ServiceError(
      'batch_too_large',
      `input_batch may have at most ${maxInputs} inputs, ${length} came`,
      'input_batch',
    );
  }
  return isLong ? [...value] : (value as readonly unknown[]);
}

function readVersion(value: unknown): string | undefined {
  return value === undefined ? undefined : readText(value, 'version', 1, MAX_VERSION_LENGTH);
}

function readContext(fields: Fields): string {
  const { uid, context } = fields;
  if (uid === undefined && context === undefined) return '';
  if (uid !== undefined && context !== undefined) throw onlyOneOf('uid', 'context');
  const field = uid === undefined ? 'context' : 'uid';
  const value = fields[field];
  if (Number.isSafeInteger(value)) return String(value);
  if (typeof value !== 'string') throw wrongType(field, 'a string or a whole number', value);
  return readText(value, field, 0, MAX_KEY_LENGTH);
}

function readObjective(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const field = 'latency_slo_micros';
  if (typeof value !== 'number') throw wrongType(field, 'a whole number of microseconds', value);
  if (!Number.isInteger(value) || value < 1 || value > MAX_OBJECTIVE_US) {
    throw new ServiceError(
      'invalid_value',
      `${field} must be a whole number from 1 to ${MAX_OBJECTIVE_US}, ${describeValue(value)} came`,
      field,
    );
  }
  return value;
}

function readPriority(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const expected = `a whole number from 1 (most urgent) to ${LOWEST_PRIORITY}`;
  if (typeof value !== 'number') throw wrongType('priority', expected, value);
  if (!Number.isInteger(value) || value < 1 || value > LOWEST_PRIORITY) {
    const message = `priority must be ${expected}, ${describeValue(value)} came`;
    throw new ServiceError('invalid_value', message, 'priority');
  }
  return value;
}

function readLaunchClass(value: unknown): LaunchClass | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw wrongType('launch_class', 'a string', value);
  const found = launchClassNamed(value);
  if (found !== undefined) return found;
  const message = `launch_class must be one of ${LAUNCH_CLASSES.join(', ')}, ${describeValue(value)} came`;
  throw new ServiceError('invalid_value', message, 'launch_class');
}

function readFlag(value: unknown, field: string): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value;
  throw wrongType(field, 'true or false', value);
}

function readLabel(value: unknown): string {
  // A whole number with more digits than a double holds is compared digit by digit.
  if (value instanceof ExactInteger) return readText(value.text, 'label', 0, MAX_LABEL_LENGTH);
  if (typeof value === 'number') {
    // JSON has no NaN; an overflow such as 1e400 parses as Infinity.
    if (!Number.isFinite(value)) {
      throw new ServiceError('number_out_of_range', 'label must be a finite number or a string', 'label');
    }
    return String(value);
  }
  if (typeof value !== 'string') throw wrongType('label', 'a number or a string', value);
  return readText(value, 'label', 0, MAX_LABEL_LENGTH);
}

function readShare(value: unknown, field: string): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'number') throw wrongType(field, 'a number from 0 to 1', value);
  if (!(value >= 0 && value <= 1)) {
    throw new ServiceError(
      'invalid_value',
      `${field} must be from 0 to 1, ${describeValue(value)} came`,
      field,
    );
  }
  return value;
}

function readLosses(value: unknown): Readonly<Record<string, number>> | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || value === null || isList(value)) {
    throw wrongType('losses', 'an object of numbers from 0 to 1 by the names of models', value);
  }
  const entries = Object.entries(value);
  if (entries.length === 0 || entries.length > MOST_LOSSES) {
    const message = `losses must have 1 to ${MOST_LOSSES} numbers, ${entries.length} came`;
    throw new ServiceError('invalid_value', message, 'losses');
  }
  const losses: Record<string, number> = {};
  for (const [name, one] of entries) {
    if (!NAME_PATTERN.test(name)) {
      const shown = JSON.stringify(name.slice(0, 64));
      throw new ServiceError('invalid_value', `losses has ${shown}, which is no name of a model`, 'losses');
    }
    losses[name] = readShare(one, `losses.${name}`) ?? 1;
  }
  return losses;
}

function readText(value: unknown, field: string, minLength: number, maxLength: number): string {
  if (typeof value !== 'string') throw wrongType(field, 'a string', value);
  if (value.length < minLength || value.length > maxLength) {
    throw new ServiceError(
      'invalid_value',
      `${field} must have ${minLength} to ${maxLength} characters, ${value.length} came`,
      field,
    );
  }
  if (LONE_SURROGATE.test(value)) {
    throw new ServiceError('invalid_value', `${field} has half of a surrogate pair`, field);
  }
  return value;
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

/** Half of a pair has no UTF-8, so that it could neither be stored nor sent. */
const LONE_SURROGATE = /\p{Surrogate}/u;

function onlyOneOf(first: string, second: string): ServiceError {
  return new ServiceError('conflicting_fields', `give ${first} or ${second}, not both`, second);
}

function wrongType(field: string, expected: string, value: unknown): ServiceError {
  return new ServiceError('wrong_type', `${field} must be ${expected}, ${describeValue(value)} came`, field);
}
