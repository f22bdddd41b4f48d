import type { Features } from '../../../selection/index.js';
import { describeValue, ServiceError } from '../../errors/index.js';
import { LOWEST_PRIORITY, MAX_OBJECTIVE_US } from '../schemas.js';
import type { BinaryPart } from './binaryData.js';
import {
  booleanParameter,
  countParameter,
  featureParameters,
  readObject,
  readParameters,
  textParameter,
  type Fields,
  type Parameters,
} from './inferParameters.js';
import { INPUT_DATATYPES } from './datatypes.js';
import { inputTensors } from './modelDescription.js';
import { columnRows, namedRows } from './namedTensors.js';
import type { Servable, ServableOutput } from './servables.js';
import { tensorRows, type InputTensor } from './tensorData.js';
import type { InputRows } from './tensorRows.js';

export interface RequestedOutput {
  readonly output: ServableOutput;
  readonly parameters: Parameters | undefined;
  /** It is answered as binary data. */
  readonly isBinary: boolean;
  /** In place of its elements, so many classes with the highest values; 0: the elements. */
  readonly classes: number;
}

export interface InferRequest {
  readonly id: string | undefined;
  readonly parameters: Parameters | undefined;
  /** The parameter `timeout`; undefined: as long as the model or application gives. */
  readonly timeoutUs: number | undefined;
  /** The parameter `priority`, 1 (most urgent) to 5; undefined: the default. */
  readonly priority: number | undefined;
  /** The parameters `features.NAME`: of all its rows. */
  readonly features: Features | undefined;
  /** One input each. */
  readonly rows: InputRows;
  /** In the order in which they are to be answered. */
  readonly outputs: readonly RequestedOutput[];
}

const MAX_ID_LENGTH = 256;

/**
 * An inference request for what `servable` takes, checked whole: nothing is asked of a model before it is.
 * @throws ServiceError that names the field
 */
export function readInferRequest(
  body: unknown,
  binary: BinaryPart,
  servable: Servable,
  maxRows: number,
): InferRequest {
  const fields = readObject(body, 'the body');
  const parameters = readParameters(fields.parameters, 'parameters', 'request');
  return {
    id: readId(fields.id),
    parameters,
    // 0 means none, as in Triton.
    timeoutUs:
      countParameter(parameters, 'timeout', MAX_OBJECTIVE_US, 'parameters', ' of microseconds') || undefined,
    priority: countParameter(parameters, 'priority', LOWEST_PRIORITY, 'parameters') || undefined,
    features: featureParameters(parameters),
    outputs: readOutputs(
      fields.outputs,
      servable,
      booleanParameter(parameters, 'binary_data_output', 'parameters') ?? false,
    ),
    rows: readRows(fields.inputs, binary, servable, maxRows),
  };
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

function readRows(inputs: unknown, binary: BinaryPart, servable: Servable, maxRows: number): InputRows {
  const { input } = servable;
  if (inputs === undefined) throw new ServiceError('missing_field', 'inputs is required', 'inputs');
  if (!Array.isArray(inputs)) {
    throw new ServiceError('wrong_type', `inputs must be an array, ${describeValue(inputs)} came`, 'inputs');
  }
  const names = inputTensors(servable).map(({ name }) => name);
  const given = new Map<string, { readonly tensor: InputTensor; readonly field: string }>();
  for (const [at, one] of (inputs as readonly unknown[]).entries()) {
    const field = `inputs[${at}]`;
    const tensor = readObject(one, field);
    const name = tensorName(tensor, names, servable, `${field}.name`);
    if (given.has(name)) {
      throw new ServiceError(
        'conflicting_fields',
        `${field}.name: '${name}' is given twice`,
        `${field}.name`,
      );
    }
    given.set(name, { tensor: inputTensor(name, tensor, binary, field), field });
  }
  binary.end();
  const found = names.map((name) => {
    const one = given.get(name);
    if (one === undefined)
      throw new ServiceError('missing_field', `inputs must have the tensor '${name}'`, 'inputs');
    return one;
  });
  const [{ tensor, field }] = found;
  const { tensors } = input;
  const isPlain =
    tensors === undefined ||
    (tensors.length === 1 &&
      input.form.columns === undefined &&
      tensors[0].datatype === INPUT_DATATYPES[input.form.type][0]);
  if (isPlain) return tensorRows(input.form, tensor, maxRows, field);
  const parts = tensors.map((declared, at) => ({
    declared,
    given: found[at].tensor,
    field: found[at].field,
  }));
  return input.form.columns === undefined
    ? namedRows(input.form, parts, maxRows)
    : columnRows(parts, maxRows);
}

function tensorName({ name }: Fields, names: readonly string[], servable: Servable, place: string): string {
  if (name === undefined) throw new ServiceError('missing_field', `${place} is required`, place);
  const known = names.find((one) => one === name);
  if (known !== undefined) return known;
  const list = names.map((one) => `'${one}'`).join(', ');
  const message =
    names.length === 1
      ? `${place} must be ${list}, the only input of '${servable.name}'; ${describeValue(name)} came`
      : `${place}: '${servable.name}' has the inputs ${list}; ${describeValue(name)} came`;
  throw new ServiceError('invalid_value', message, place);
}

function inputTensor(name: string, tensor: Fields, binary: BinaryPart, field: string): InputTensor {
  const parameters = readParameters(tensor.parameters, `${field}.parameters`, 'input');
  const { datatype, shape, data } = tensor;
  const bytes = takeBinary(parameters, data, binary, `${field} ('${name}')`, field);
  const isBase64 = textParameter(parameters, 'content_type') === 'base64';
  return { name, datatype, shape, data, binary: bytes, isBase64 };
}

/** The tensor's binary data; undefined: it has `data`. */
function takeBinary(
  parameters: Parameters | undefined,
  data: unknown,
  binary: BinaryPart,
  tensor: string,
  field: string,
): Buffer | undefined {
  const place = `${field}.parameters`;
  const size = countParameter(parameters, 'binary_data_size', Number.MAX_SAFE_INTEGER, place, ' of bytes');
  if (size !== undefined && data !== undefined) {
    const message = `${tensor} has data and binary_data_size: one of them`;
    throw new ServiceError('conflicting_fields', message, `${field}.data`);
  }
  return size === undefined ? undefined : binary.take(size, tensor);
}

function readOutputs(outputs: unknown, servable: Servable, allBinary: boolean): RequestedOutput[] {
  const { name: servableName, outputs: known } = servable;
  const all = known.map((output) => ({ output, parameters: undefined, isBinary: allBinary, classes: 0 }));
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
    const { name, parameters: given } = readObject(one, `outputs[${index}]`);
    const place = `outputs[${index}].name`;
    if (name === undefined) throw new ServiceError('missing_field', `${place} is required`, place);
    const output = known.find((candidate) => candidate.name === name);
    if (output === undefined) {
      const names = known.map((candidate) => `'${candidate.name}'`).join(', ');
      const message = `${place}: '${servableName}' has the outputs ${names}; ${describeValue(name)} came`;
      throw new ServiceError('invalid_value', message, place);
    }
    if (requested.some((other) => other.output === output)) {
      throw new ServiceError('conflicting_fields', `${place}: '${output.name}' is asked for twice`, place);
    }
    const field = `outputs[${index}].parameters`;
    const parameters = readParameters(given, field, 'output');
    requested.push({
      output,
      parameters,
      isBinary: booleanParameter(parameters, 'binary_data', field) ?? allBinary,
      classes: readClasses(parameters, output, field),
    });
  }
  return requested.length === 0 ? all : requested;
}

/** The parameter of the classification extension: of an output that has elements to choose among. */
function readClasses(parameters: Parameters | undefined, output: ServableOutput, field: string): number {
  const classes = countParameter(parameters, 'classification', Number.MAX_SAFE_INTEGER, field) ?? 0;
  const { name, elements } = output;
  if (classes === 0 || (elements !== undefined && classes <= elements)) return classes;
  const path = `${field}.classification`;
  const message =
    elements === undefined
      ? `${path}: '${name}' has one element a row; ask for classes of an output with scores`
      : `${path}: '${name}' has ${elements} classes, ${classes} are asked for`;
  throw new ServiceError('invalid_value', message, path);
}
