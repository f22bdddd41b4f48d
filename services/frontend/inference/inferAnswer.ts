import { outputJson } from '../answers.js';
import { binaryTensor, type OutputElement } from './binaryData.js';
import { topClasses } from './classification.js';
import type { OutputDatatype } from './datatypes.js';
import { parametersJson } from './inferParameters.js';
import type { InferRequest, RequestedOutput } from './inferRequest.js';
import type { Servable, ServableOutput } from './servables.js';

/** What one row was answered. */
export interface RowAnswer {
  readonly output: string;
  readonly scores?: Float32Array | undefined;
  readonly confidence?: number;
}

export interface InferAnswer {
  readonly json: string;
  /** Binary data that follows the JSON; of no tensor when every output is in it. */
  readonly binary: readonly Uint8Array[];
}

/** An output of all rows. */
interface OutputTensor {
  readonly datatype: OutputDatatype;
  /** Elements a row; undefined: one, without a dimension of its own. */
  readonly perRow: number | undefined;
  /** Of a row, where it is not one dimension. */
  readonly rowShape?: readonly number[] | undefined;
  readonly elements: readonly OutputElement[];
}

/** Elements of a slice, each of which takes about a microsecond. */
const SLICE = 256;

/**
 * The answer to all rows, written in slices: what is yielded is where others may be served.
 * @throws Error when a model's answer is not what its manifest declares
 */
export function* inferAnswer(
  servable: Servable,
  request: InferRequest,
  rows: readonly RowAnswer[],
): Generator<undefined, InferAnswer> {
  const { id, parameters } = request;
  let json = `{"model_name":${JSON.stringify(servable.name)}`;
  const version = servable.kind === 'model' ? servable.record.version : servable.version;
  if (version !== undefined) json += `,"model_version":${JSON.stringify(version)}`;
  if (id !== undefined) json += `,"id":${JSON.stringify(id)}`;
  if (parameters !== undefined) json += `,"parameters":${parametersJson(parameters)}`;
  const binary: Uint8Array[] = [];
  let outputs = '';
  for (const requested of request.outputs) {
    const tensor = yield* tensorOf(requested, rows);
    const bytes = requested.isBinary ? binaryTensor(tensor.datatype, tensor.elements) : undefined;
    if (bytes !== undefined) binary.push(bytes);
    const text = yield* tensorJson(requested, tensor, rows.length, bytes?.length);
    outputs += outputs === '' ? text : `,${text}`;
  }
  return { json: `${json},"outputs":[${outputs}]}`, binary };
}

function* tensorJson(
  { output, parameters }: RequestedOutput,
  { datatype, perRow, rowShape, elements }: OutputTensor,
  rows: number,
  binaryBytes: number | undefined,
): Generator<undefined, string> {
  const shape = [rows, ...(rowShape ?? (perRow === undefined ? [] : [perRow]))].join(',');
  const answered = binaryBytes === undefined ? parameters : { ...parameters, binary_data_size: binaryBytes };
  const kept = answered === undefined ? '' : `,"parameters":${parametersJson(answered)}`;
  const head = `{"name":${JSON.stringify(output.name)},"datatype":"${datatype}","shape":[${shape}]${kept}`;
  if (binaryBytes !== undefined) return `${head}}`;
  let data = '';
  for (let at = 0; at < elements.length; at += SLICE) {
    const slice = elements.slice(at, at + SLICE).map((element) => elementJson(datatype, element));
    data += at === 0 ? slice.join(',') : `,${slice.join(',')}`;
    yield;
  }
  return `${head},"data":[${data}]}`;
}

/** What JSON has no number for is null. Nine digits tell any two float32 apart. */
function elementJson(datatype: OutputDatatype, element: OutputElement): string {
  if (typeof element === 'string') return JSON.stringify(element);
  if (typeof element === 'bigint') return String(element);
  if (!Number.isFinite(element)) return 'null';
  if (datatype === 'BOOL') return element === 0 ? 'false' : 'true';
  // String(-0) is '0'.
  if (Object.is(element, -0)) return '-0';
  return String(datatype === 'FP32' ? Number(element.toPrecision(9)) : element);
}

function* tensorOf(
  { output, classes }: RequestedOutput,
  rows: readonly RowAnswer[],
): Generator<undefined, OutputTensor> {
  const { datatype, elements: perRow } = output;
  const elements: OutputElement[] = [];
  let sinceYield = 0;
  for (const row of rows) {
    const before = elements.length;
    if (classes > 0) elements.push(...topClasses(numbersOf(output, row), classes, output.labels));
    else if (datatype === 'BYTES') elements.push(row.output);
    else if (datatype === 'INT64' && output.source === 'output') elements.push(integerOf(output, row));
    else for (const value of numbersOf(output, row)) elements.push(value);
    sinceYield += elements.length - before;
    if (sinceYield < SLICE) continue;
    sinceYield = 0;
    yield;
  }
  if (classes > 0) return { datatype: 'BYTES', perRow: classes, elements };
  return { datatype, perRow, rowShape: output.shape, elements };
}

/** All digits: a double has but 53 bits of the 64. */
function integerOf(output: ServableOutput, { output: text }: RowAnswer): bigint {
  const whole = wholeNumber(text.trim());
  if (whole === undefined || BigInt.asIntN(64, whole) !== whole) throw undeclared(output);
  return whole;
}

/** Also `3.0` and `1e3`, as long as a double holds what they say. */
function wholeNumber(text: string): bigint | undefined {
  if (/^-?\d{1,19}$/.test(text)) return BigInt(text);
  const value = text === '' ? NaN : Number(text);
  return Number.isSafeInteger(value) ? BigInt(value) : undefined;
}

function numbersOf(output: ServableOutput, row: RowAnswer): ArrayLike<number> & Iterable<number> {
  switch (output.source) {
    case 'output': {
      const value = row.output === '' ? NaN : Number(row.output);
      if (!Number.isFinite(value)) throw undeclared(output);
      return [value];
    }
    case 'values':
    case 'tensors': {
      const json: unknown = JSON.parse(outputJson(row.output));
      const values = output.source === 'values' ? json : (json as Record<string, unknown>)[output.name];
      if (!Array.isArray(values) || values.length !== output.elements) throw undeclared(output);
      return values.map((value: unknown) => {
        // null stands for what JSON has no number for.
        if (typeof value !== 'number' && value !== null) throw undeclared(output);
        return value ?? NaN;
      });
    }
    case 'scores': {
      const { scores } = row;
      if (scores === undefined || scores.length !== output.elements) throw undeclared(output);
      return scores;
    }
    case 'confidence':
      return [row.confidence ?? 0];
  }
}

function undeclared({ name, datatype }: ServableOutput): Error {
  return new Error(
    `the model answered something else than the output '${name}' of ${datatype} that it declares`,
  );
}
