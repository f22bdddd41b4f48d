import { jsonText } from '../json/index.js';
import { RefusedError, UnexpectedAnswerError } from './clientErrors.js';
import type { ClientInput, Feedback, FeedbackResult, Prediction, PredictOptions } from './clientTypes.js';

type Fields = Readonly<Record<string, unknown>>;

/** An input as JSON has it. */
export function jsonInput(input: ClientInput): unknown {
  if (input instanceof Uint8Array) return Buffer.from(input).toString('base64');
  return ArrayBuffer.isView(input) ? Array.from(input as ArrayLike<number>) : input;
}

/** Fields of a query beside its input; undefined ones vanish in JSON. */
export function predictFields(options: PredictOptions): Fields {
  const { context, version, objectiveUs, strict, priority, launchClass, features } = options;
  return {
    context,
    version,
    latency_slo_micros: objectiveUs,
    strict,
    priority,
    launch_class: launchClass,
    features: finite(features, 'features'),
  };
}

/** An hour: what no objective is longer than. */
const MAX_DEADLINE_MS = 3_600_000;

/** What travels as headers: a deadline counts from the moment that they arrive. @throws RangeError */
export function predictHeaders({ deadlineMs }: PredictOptions): Readonly<Record<string, string>> | undefined {
  if (deadlineMs === undefined) return undefined;
  return { 'x-request-timeout-ms': String(Math.ceil(checkedDeadlineMs(deadlineMs))) };
}

/** On a WebSocket, where a message arrives whole, the deadline is an objective like the other. @throws RangeError */
export function messageObjectiveUs({ objectiveUs, deadlineMs }: PredictOptions): number | undefined {
  if (deadlineMs === undefined) return objectiveUs;
  const deadlineUs = Math.ceil(checkedDeadlineMs(deadlineMs) * 1000);
  return objectiveUs === undefined ? deadlineUs : Math.min(objectiveUs, deadlineUs);
}

function checkedDeadlineMs(deadlineMs: number): number {
  if (deadlineMs > 0) return Math.min(deadlineMs, MAX_DEADLINE_MS);
  throw new RangeError(`deadlineMs must be above 0, not ${deadlineMs}`);
}

export function feedbackFields(feedback: Feedback): Fields {
  const { queryId, input, label, loss, reward, losses, idempotencyKey, features, context } = feedback;
  return {
    query_id: queryId,
    input: input === undefined ? undefined : jsonInput(input),
    label,
    loss,
    reward,
    losses,
    idempotency_key: idempotencyKey,
    features: finite(features, 'features'),
    context,
  };
}

/** JSON has no NaN: it would travel as null, and be taken for it or refused as it. @throws RangeError naming the field */
export function finite<T>(value: T, field = ''): T {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new RangeError(`${field} must be a finite number, not ${value}`);
  if (typeof value !== 'object' || value === null) return value;
  for (const [name, own] of Object.entries(value))
    finite<unknown>(own, Array.isArray(value) ? `${field}[${name}]` : `${field}.${name}`.replace(/^\./, ''));
  return value;
}

/** @throws UnexpectedAnswerError */
export function readPrediction(value: unknown): Prediction {
  const fields = readFields(value);
  const { query_id: queryId, output, confidence, cached, models } = fields;
  if (typeof queryId !== 'string' || typeof confidence !== 'number' || !Array.isArray(models)) {
    throw unexpected(value);
  }
  return {
    queryId,
    output,
    isDefault: fields.default === true,
    ...(fields.default_reason === undefined
      ? {}
      : { defaultReason: fields.default_reason as Prediction['defaultReason'] }),
    confidence,
    cached: cached === true,
    models: models as Prediction['models'],
  };
}

/** @throws UnexpectedAnswerError */
export function readFeedbackResult(value: unknown): FeedbackResult {
  const { joined, durable } = readFields(value);
  if (typeof joined !== 'string') throw unexpected(value);
  return { joined: joined as FeedbackResult['joined'], durable: durable === true };
}

/** The refusal in an answer's body; undefined when there is none. */
export function readRefusal(value: unknown, status: number): RefusedError | undefined {
  if (typeof value !== 'object' || value === null || !('error' in value)) return undefined;
  // The Open Inference Protocol has a sentence there.
  if (typeof value.error !== 'object' || value.error === null) return undefined;
  const { code, message, field, retry_after_ms: retryAfterMs } = readFields(value.error);
  if (typeof code !== 'string' || typeof message !== 'string') return undefined;
  return new RefusedError(
    code,
    status,
    message,
    typeof field === 'string' ? field : undefined,
    typeof retryAfterMs === 'number' ? retryAfterMs : undefined,
  );
}

export function readFields(value: unknown): Fields {
  if (typeof value === 'object' && value !== null) return value as Fields;
  throw unexpected(value);
}

function unexpected(value: unknown): UnexpectedAnswerError {
  const shown = ((jsonText(value) as string | undefined) ?? 'nothing').slice(0, 80);
  return new UnexpectedAnswerError(`this is no answer of Windjammer: ${shown}`);
}
