import type { Features } from '../../../selection/index.js';
import { jsonInput, keyHeaders, type ConnectionOptions } from '../../../services/client/index.js';
import { parseExactly } from '../../../services/json/index.js';
import { readPrediction, readRefusal, UnexpectedAnswerError } from '../../../services/client/index.js';
import { inputValue, type InputForm } from '../../../containers/protocol/index.js';
import type { LoadMode } from '../loadPlan.js';
import type { LoadAnswer, LoadQuery, Outcome } from './sender.js';

/** How queries look on HTTP, in one of its two protocols. */
export interface HttpForm {
  readonly path: (query: LoadQuery) => string;
  readonly body: (query: LoadQuery) => string;
  /** @throws UnexpectedAnswerError */
  readonly answer: (value: unknown) => LoadAnswer;
}

export const HTTP_FORMS: Readonly<Record<Exclude<LoadMode, 'websocket'>, HttpForm>> = {
  http: {
    path: ({ application }) => `/${encodeURIComponent(application.name)}/predict`,
    body: ({ application, context, features, input }) =>
      JSON.stringify({ input: jsonInput(inputValue(application.form.type, input)), context, features }),
    answer: readPrediction,
  },
  v2: {
    path: ({ application }) => `${application.v2Path}/infer`,
    body: ({ number, application, features, input }) => v2Body(application.form, input, number, features),
    answer: v2Answer,
  },
};

export function headersOf(connection: ConnectionOptions): Record<string, string> {
  return { ...keyHeaders(connection), 'content-type': 'application/json' };
}

/** What an HTTP answer means. */
export function outcomeOf(form: HttpForm, status: number, text: string): Outcome {
  let value: unknown;
  try {
    value = parseExactly(text);
    if (status >= 200 && status < 300) return { kind: 'answer', answer: form.answer(value) };
  } catch (cause) {
    if (!(cause instanceof SyntaxError || cause instanceof UnexpectedAnswerError)) throw cause;
    return { kind: 'failed', code: 'unexpected_answer', message: `${status}: ${text.slice(0, 80)}` };
  }
  const refusal = readRefusal(value, status);
  if (refusal !== undefined) {
    return { kind: 'refused', code: refusal.code, status, message: refusal.message };
  }
  const message = v2Error(value);
  return message === undefined
    ? { kind: 'failed', code: 'unexpected_answer', message: `${status}: ${text.slice(0, 80)}` }
    : { kind: 'refused', code: `v2_${status}`, status, message };
}

const DATATYPES = {
  doubles: 'FP64',
  floats: 'FP32',
  integers: 'INT32',
  bytes: 'BYTES',
  strings: 'BYTES',
} as const;

function v2Body(form: InputForm, input: Uint8Array, number: number, features: Features = {}): string {
  const value = jsonInput(inputValue(form.type, input));
  const data = Array.isArray(value) ? value : [value];
  const shape = Array.isArray(value) ? [1, data.length] : [1];
  const parameters = form.type === 'bytes' ? { content_type: 'base64' } : undefined;
  const tensor = { name: 'input', datatype: DATATYPES[form.type], shape, parameters, data };
  const named = Object.entries(features).map(([name, one]) => [`features.${name}`, one] as const);
  const all = named.length === 0 ? {} : { parameters: Object.fromEntries(named) };
  return JSON.stringify({ id: String(number), ...all, inputs: [tensor] });
}

function v2Answer(value: unknown): LoadAnswer {
  const { outputs, model_name: name, model_version: version } = (value ?? {}) as Record<string, unknown>;
  const [first] = (Array.isArray(outputs) ? outputs : []) as { data?: readonly unknown[] }[];
  if (!Array.isArray(first?.data)) throw new UnexpectedAnswerError('an answer without an output');
  const model = { name: String(name), version: typeof version === 'string' ? version : '', cached: false };
  return { queryId: '', output: first.data[0], isDefault: false, cached: false, models: [model] };
}

function v2Error(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('error' in value)) return undefined;
  return typeof value.error === 'string' ? value.error : undefined;
}
