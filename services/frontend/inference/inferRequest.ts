import { describeValue, ServiceError } from '../../errors/index.js';
import { MAX_OBJECTIVE_US } from '../schemas.js';
import type { Servable } from './servables.js';
import { tensorRows } from './tensorData.js';

type Fields = Readonly<Record<string, unknown>>;
export type Parameters = Readonly<Record<string, string | number | boolean>>;

export interface RequestedOutput {
  /** Its place among the servable's outputs. */
  readonly at: number;
  readonly parameters: Parameters | undefined;
}

export interface InferRequest {
  readonly id: string | undefined;
  readonly parameters: Parameters | undefined;
  /** The parameter `timeout`; undefined: as long as the model or application gives. */
  readonly timeoutUs: number | undefined;
  /** One input each. */
  readonly rows: readonly Uint8Array[];
  /** In the order in which they are to be answered. */
  readonly outputs: readonly RequestedOutput[];
}

const MAX_ID_LENGTH = 256;
const MAX_PARAMETERS = 64;

/** What other servers do by these parameters is not done here: ignoring them would answer something else. */
const REFUSED_PARAMETERS: ReadonlyMap<string, string> = new Map([
  ['binary_data', 'binary tensor data is not supported: send and take `data` as JSON'],
  ['binary_data_size', 'binary tensor data is not supported: send `data` as JSON'],
  ['binary_data_output', 'binary tensor data is not supported: take `data` as JSON'],
  ['classification', 'the classification extension is not supported: ask for the output `scores`'],
  ['sequence_id', 'sequences are not supported'],
  ['shared_memory_region', 'shared memory is not supported: send `data` as JSON'],
]);

/**
 * An inference request for what `servable` takes, checked whole: nothing is asked of a model before it is.
 * @throws ServiceError that names the field
 */
export function readInferRequest(body: unknown, servable: Servable): InferRequest {
  const fields = readObject(body, 'the body');
  const parameters = readParameters(fields.parameters, 'parameters');
  return {
    id: readId(fields.id),
    parameters,
    timeoutUs: readTimeout(parameters),
    outputs: readOutputs(fields.outputs, servable),
    rows: readRows(fields.inputs, servable),
  };
}

function readObject(value: unknown, what: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new ServiceError('wrong_type', `${what} must be an object, ${describeValue(value)} came`, what);
}

function readId(id: unknown): string | undefined {
  if (id === undefined) return undefined;
  if (typeof id === 'string' && id.length <= MAX_ID_LENGTH) return id;
  const what = typeof id === 'string' ? `${id.length} came` : `${describeValue(id)} came`;
  throw new ServiceError(
    typeof id === 'string' ? 'invalid_value' : 'wrong_type',
    `id must be a string of up to ${MAX_ID_LENGTH} characters, ${what}`,
    'id',
  );
}

function readParameters(value: unknown, place: string): Parameters | undefined {
  if (value === undefined) return undefined;
  const entries = Object.entries(readObject(value, place));
  if (entries.length > MAX_PARAMETERS) {
    throw new ServiceError('invalid_value', `${place} may have at most ${MAX_PARAMETERS} entries`, place);
  }
  for (const [name, one] of entries) {
    const field = `${place}.${name.slice(0, 64)}`;
    const plain = typeof one === 'string' || typeof one === 'boolean' || Number.isFinite(one);
    if (!plain) {
      const message = `${field} must be a string, a number or a boolean, ${describeValue(one)} came`;
      throw new ServiceError('wrong_type', message, field);
    }
    const refusal = one === false || one === 0 ? undefined : REFUSED_PARAMETERS.get(name);
    if (refusal !== undefined) throw new ServiceError('not_supported', `${field}: ${refusal}`, field);
  }
  return value as Parameters;
}

/** A Map's view of parameters: no name reaches an object's prototype. */
function parameter(parameters: Parameters | undefined, name: string): unknown {
  return parameters !== undefined && Object.hasOwn(parameters, name) ? parameters[name] : undefined;
}

/** The timeout in microseconds; 0 means none, as in Triton. The priority is checked and has no effect. */
function readTimeout(parameters: Parameters | undefined): number | undefined {
  const priority = parameter(parameters, 'priority');
  if (priority !== undefined && !isCount(priority, Number.MAX_SAFE_INTEGER)) {
    const message = `parameters.priority must be a whole number from 0, ${describeValue(priority)} came`;
    throw new ServiceError('invalid_value', message, 'parameters.priority');
  }
  const timeout = parameter(parameters, 'timeout');
  if (timeout === undefined || timeout === 0) return undefined;
  if (isCount(timeout, MAX_OBJECTIVE_US)) return timeout;
  const message = `parameters.timeout must be a whole number of microseconds from 0 to ${MAX_OBJECTIVE_US}, ${describeValue(timeout)} came`;
  throw new ServiceError('invalid_value', message, 'parameters.timeout');
}

function isCount(value: unknown, most: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most;
}

function readRows(inputs: unknown, servable: Servable): Uint8Array[] {
  const { input } = servable;
  if (inputs === undefined) throw new ServiceError('missing_field', 'inputs is required', 'inputs');
  if (!Array.isArray(inputs)) {
    throw new ServiceError('wrong_type', `inputs must be an array, ${describeValue(inputs)} came`, 'inputs');
  }
  const tensors: readonly unknown[] = inputs;
  let found: Fields | undefined;
  for (const [at, one] of tensors.entries()) {
    const tensor = readObject(one, `inputs[${at}]`);
    const place = `inputs[${at}].name`;
    if (tensor.name === undefined) throw new ServiceError('missing_field', `${place} is required`, place);
    if (tensor.name !== input.name) {
      const message = `${place} must be '${input.name}', the only input of '${servable.name}'; ${describeValue(tensor.name)} came`;
      throw new ServiceError('invalid_value', message, place);
    }
    if (found !== undefined) {
      throw new ServiceError('conflicting_fields', `${place}: '${input.name}' is given twice`, place);
    }
    found = tensor;
  }
  if (found === undefined) {
    throw new ServiceError('missing_field', `inputs must have the tensor '${input.name}'`, 'inputs');
  }
  const parameters = readParameters(found.parameters, 'inputs[0].parameters');
  const { datatype, shape, data } = found;
  const isBase64 = parameter(parameters, 'content_type') === 'base64';
  return tensorRows(input.type, { datatype, shape, data, isBase64 }, input.length, 'inputs[0]');
}

function readOutputs(outputs: unknown, { name: servable, outputs: known }: Servable): RequestedOutput[] {
  const all = known.map((_, at) => ({ at, parameters: undefined }));
  if (outputs === undefined) return all;
  if (!Array.isArray(outputs)) {
    throw new ServiceError(
      'wrong_type',
      `outputs must be an array, ${describeValue(outputs)} came`,
      'outputs',
    );
  }
  const requested: RequestedOutput[] = [];
  for (const [index, one] of (outputs as readonly unknown[]).entries()) {
    const { name, parameters } = readObject(one, `outputs[${index}]`);
    const place = `outputs[${index}].name`;
    if (name === undefined) throw new ServiceError('missing_field', `${place} is required`, place);
    const at = known.findIndex((output) => output.name === name);
    if (at < 0) {
      const names = known.map((output) => `'${output.name}'`).join(', ');
      const message = `${place}: '${servable}' has the outputs ${names}; ${describeValue(name)} came`;
      throw new ServiceError('invalid_value', message, place);
    }
    if (requested.some((other) => other.at === at)) {
      throw new ServiceError('conflicting_fields', `${place}: '${known[at].name}' is asked for twice`, place);
    }
    requested.push({ at, parameters: readParameters(parameters, `outputs[${index}].parameters`) });
  }
  return requested.length === 0 ? all : requested;
}
