import type { Answer, AnsweringModel, DefaultReason, ModelVote } from '../prediction/index.js';
import type { ErrorCode } from '../errors/index.js';

/** What a person is told about a default output. */
export const DEFAULT_EXPLANATIONS: Readonly<Record<DefaultReason, string>> = {
  no_linked_model: 'No model is linked to the application, or none that its policy names.',
  no_replica: 'No linked model has a replica that is up.',
  deadline: 'No prediction arrived within the latency objective.',
  model_error: 'Every asked model failed on this input.',
  overload: 'The queues of the linked models are full, or too long for an answer in time.',
  low_confidence: 'The predictions that arrived did not agree well enough.',
};

/** The error that a strict query gets in place of a default output. */
export const STRICT_ERRORS: Readonly<Record<DefaultReason, ErrorCode>> = {
  no_linked_model: 'default_unavailable',
  no_replica: 'default_unavailable',
  deadline: 'default_deadline',
  model_error: 'default_model_error',
  overload: 'default_unavailable',
  low_confidence: 'default_low_confidence',
};

/** An error as a client is told it. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly field?: string | undefined;
  /** When it is worth another try. */
  readonly retryAfterMs?: number;
}

/** What a strict query is told in place of a default output. */
export function strictRefusal(answer: Pick<Answer, 'retryAfterNs'>, reason: DefaultReason): Refusal {
  const code = STRICT_ERRORS[reason];
  const message = DEFAULT_EXPLANATIONS[reason];
  const retryAfterMs = retryAfterMsOf(answer, reason);
  return retryAfterMs === undefined ? { code, message } : { code, message, retryAfterMs };
}

/** For what nobody can say, such as when somebody links a model: the least that Retry-After can. */
const UNKNOWN_RETRY_MS = 1000;

/** undefined: another try would end no better, or its own deadline is the answer. */
function retryAfterMsOf(
  { retryAfterNs }: Pick<Answer, 'retryAfterNs'>,
  reason: DefaultReason,
): number | undefined {
  switch (reason) {
    case 'overload':
      if (retryAfterNs === undefined || !Number.isFinite(retryAfterNs)) return UNKNOWN_RETRY_MS;
      return Math.max(1, Math.ceil(retryAfterNs / 1e6));
    case 'no_replica':
    case 'no_linked_model':
      return UNKNOWN_RETRY_MS;
    case 'deadline':
    case 'model_error':
    case 'low_confidence':
      return undefined;
  }
}

/** `Retry-After`: whole seconds, at least 1. */
export function retryAfterHeader(retryAfterMs: number): readonly string[] {
  return ['retry-after', `${Math.max(1, Math.ceil(retryAfterMs / 1000))}`];
}

/**
 * JSON text of one prediction. Written by hand: names and versions are limited to characters that need no escape.
 */
export function predictionJson(answer: Answer, votes?: readonly ModelVote[]): string {
  let models = '';
  for (const model of answer.models) models += models === '' ? modelJson(model) : `,${modelJson(model)}`;
  return (
    `{"query_id":"${answer.queryId}","output":${outputJson(answer.output)},"default":${answer.isDefault}` +
    (answer.isDefault ? defaultJson(answer.defaultReason) : '') +
    `,"confidence":${answer.confidence},"cached":${answer.cached},"models":[${models}]` +
    (votes === undefined ? '}' : `,"votes":[${votes.map(voteJson).join(',')}]}`)
  );
}

function voteJson({ name, version, cached, output, scores, missing }: ModelVote): string {
  let json = `{"name":"${name}","version":"${version}","cached":${cached}`;
  if (output !== undefined) json += `,"output":${outputJson(output)}`;
  // Nine digits tell any two float32 apart.
  if (scores !== undefined) json += `,"scores":[${Array.from(scores, scoreJson).join(',')}]`;
  if (missing !== undefined) json += `,"missing":"${missing}"`;
  return `${json}}`;
}

function scoreJson(score: number): string {
  // String(-0) is '0'.
  if (Object.is(score, -0)) return '-0';
  return Number.isFinite(score) ? String(Number(score.toPrecision(9))) : 'null';
}

function modelJson(model: AnsweringModel): string {
  return `{"name":"${model.name}","version":"${model.version}","cached":${model.cached}}`;
}

function defaultJson(reason: DefaultReason | undefined): string {
  if (reason === undefined) return '';
  return `,"default_reason":"${reason}","default_explanation":"${DEFAULT_EXPLANATIONS[reason]}"`;
}

/** Outputs repeat, labels above all: the check whether a text is JSON is remembered for short ones. */
const MEMO_ENTRIES = 1024;
const MEMO_LENGTH = 64;
const memo = new Map<string, string>();

/**
 * An output as it stands in the answer: embedded when it is JSON, otherwise a JSON string. NaN, Infinity and -Infinity,
 * which many runtimes write and JSON does not have, become null.
 */
export function outputJson(output: string): string {
  if (output.length > MEMO_LENGTH) return embed(output);
  let text = memo.get(output);
  if (text === undefined) {
    text = embed(output);
    if (memo.size >= MEMO_ENTRIES) memo.clear();
    memo.set(output, text);
  }
  return text;
}

function embed(output: string): string {
  if (isJson(output)) return output;
  if (output.includes('NaN') || output.includes('Infinity')) {
    const finite = withoutNonFinite(output);
    if (isJson(finite)) return finite;
  }
  return JSON.stringify(output);
}

const NON_FINITE = /-?\bInfinity\b|-?\bNaN\b/g;
const BACKSLASH = 92;

/** Null for each of them outside JSON strings. No pattern spans a string: on one of some MB it would run out of stack. */
function withoutNonFinite(output: string): string {
  let text = '';
  let from = 0;
  while (from < output.length) {
    const quote = output.indexOf('"', from);
    const opening = quote < 0 ? output.length : quote;
    const closing = endOfString(output, opening + 1);
    text += output.slice(from, opening).replace(NON_FINITE, 'null') + output.slice(opening, closing);
    from = closing;
  }
  return text;
}

/** Behind the quote that ends a JSON string whose content begins at `from`; the length of a text where none does. */
function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (quote - backslashes > from && text.charCodeAt(quote - backslashes - 1) === BACKSLASH)
      backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
