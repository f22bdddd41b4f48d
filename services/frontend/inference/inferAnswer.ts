import { outputJson } from '../answers.js';
import type { InferRequest, RequestedOutput } from './inferRequest.js';
import type { Servable, ServableOutput } from './servables.js';

/** What one row was answered. */
export interface RowAnswer {
  readonly output: string;
  readonly scores?: Float32Array | undefined;
  readonly confidence?: number;
}

/**
 * JSON text of the answer to all rows.
 * @throws Error when a model's answer is not what its manifest declares
 */
export function inferAnswerJson(
  servable: Servable,
  request: InferRequest,
  rows: readonly RowAnswer[],
): string {
  const { id, parameters } = request;
  let json = `{"model_name":${JSON.stringify(servable.name)}`;
  const version = servable.kind === 'model' ? servable.record.version : servable.version;
  if (version !== undefined) json += `,"model_version":${JSON.stringify(version)}`;
  if (id !== undefined) json += `,"id":${JSON.stringify(id)}`;
  if (parameters !== undefined) json += `,"parameters":${JSON.stringify(parameters)}`;
  const outputs = request.outputs.map((requested) => tensorJson(servable, requested, rows));
  return `${json},"outputs":[${outputs.join(',')}]}`;
}

function tensorJson(
  servable: Servable,
  { at, parameters }: RequestedOutput,
  rows: readonly RowAnswer[],
): string {
  const output = servable.outputs[at];
  const { name, datatype, elements } = output;
  const shape = elements === undefined ? `${rows.length}` : `${rows.length},${elements}`;
  const kept = parameters === undefined ? '' : `,"parameters":${JSON.stringify(parameters)}`;
  const data = rows.map((row) => rowJson(output, row)).join(',');
  return `{"name":"${name}","datatype":"${datatype}","shape":[${shape}]${kept},"data":[${data}]}`;
}

function rowJson(output: ServableOutput, row: RowAnswer): string {
  switch (output.source) {
    case 'output':
      if (output.datatype === 'BYTES') return JSON.stringify(row.output);
      if (!Number.isFinite(Number(row.output)) || row.output === '') throw undeclared(output);
      return row.output;
    case 'values': {
      const values: unknown = JSON.parse(outputJson(row.output));
      if (!Array.isArray(values) || values.length !== output.elements) throw undeclared(output);
      const text = JSON.stringify(values);
      return text.slice(1, -1);
    }
    case 'scores': {
      const { scores } = row;
      if (scores === undefined || scores.length !== output.elements) throw undeclared(output);
      return Array.from(scores, floatJson).join(',');
    }
    case 'confidence':
      return floatJson(row.confidence ?? 0);
  }
}

function undeclared({ name, datatype }: ServableOutput): Error {
  return new Error(
    `the model answered something else than the output '${name}' of ${datatype} that it declares`,
  );
}

/** Nine digits tell any two float32 apart; what JSON has no number for is null. */
function floatJson(value: number): string {
  return Number.isFinite(value) ? String(Number(value.toPrecision(9))) : 'null';
}
