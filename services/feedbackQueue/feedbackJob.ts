import { randomBytes } from 'node:crypto';
import type { ArmPrediction, Features, Selection } from '../../selection/index.js';
import type { TriedTask } from '../feedback/index.js';
import { keyMark, type ResolvedFeedback } from '../prediction/index.js';

/** Of a name by which a store knows what was written. */
const MOST_MARK_BYTES = 512;

/** Feedback as the queue keeps it: JSON, with all that learning from it needs wherever. */
export interface FeedbackJob {
  readonly application: string;
  readonly context: string;
  readonly label?: string | undefined;
  readonly loss?: number | undefined;
  /** Of single models, by name. */
  readonly losses?: Readonly<Record<string, number>> | undefined;
  readonly queryId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly selection?: Selection | undefined;
  /** Scores as base64 of little-endian float32. */
  readonly predictions?: readonly QueuedPrediction[];
  /** Arms that were late; absent where none was. */
  readonly late?: readonly string[] | undefined;
  /** Of models with a version on trial; absent where there are none. */
  readonly tried?: readonly QueuedTask[];
  /** In place of a selection: base64. */
  readonly input?: string | undefined;
  readonly features?: Features | undefined;
  /** Names by which the store knows it once it is learned; the first is the job's id. */
  readonly marks: readonly string[];
  /** The frontend that accepted it, and its number there. */
  readonly from: string;
  readonly number: number;
}

interface QueuedPrediction {
  readonly arm: string;
  readonly output: string;
  readonly scores?: string;
}

type QueuedTask = Omit<TriedTask, 'predictions'> & { readonly predictions: readonly QueuedPrediction[] };

/** Of one feedback, with its id: what the queue and the spool keep. */
export interface QueuedFeedback {
  readonly id: string;
  readonly job: FeedbackJob;
  /** Of its texts: about what it takes. */
  readonly bytes: number;
}

/** Ids under which feedback may come again, the one that names its job first. */
export function idsOf({ application, queryId, idempotencyKey }: ResolvedFeedback): readonly string[] {
  const ids: string[] = [];
  if (queryId !== undefined) ids.push(`q-${queryId}`);
  if (idempotencyKey !== undefined) ids.push(keyMark(application, idempotencyKey));
  return ids;
}

/** @param ids of `idsOf`; where there are none, it gets one that nobody else has */
export function queued(
  feedback: ResolvedFeedback,
  ids: readonly string[],
  from: string,
  number: number,
): QueuedFeedback {
  const { application, context, label, loss, losses, queryId, idempotencyKey, features } = feedback;
  const { selection, predictions, input, late = [], tried = [] } = feedback;
  const marks = ids.length > 0 ? ids : [`r-${randomBytes(16).toString('base64url')}`];
  const job: FeedbackJob = {
    application,
    context,
    label,
    loss,
    losses,
    queryId,
    idempotencyKey,
    features,
    ...(selection === undefined
      ? { input: base64(input) }
      : { selection: { ...selection }, predictions: predictions?.map(predictionJson) ?? [] }),
    ...(late.length === 0 ? {} : { late }),
    ...(tried.length === 0 ? {} : { tried: tried.map(taskJson) }),
    marks,
    from,
    number,
  };
  return { id: marks[0], job, bytes: bytesOf(job) };
}

/** About what it takes: its texts, and something for the rest. */
export function bytesOf(job: FeedbackJob): number {
  const {
    label = '',
    losses = {},
    input = '',
    predictions = [],
    marks,
    context,
    features = {},
    tried = [],
  } = job;
  let bytes = 256 + label.length + input.length + context.length;
  for (const name of [...Object.keys(features), ...Object.keys(losses)]) bytes += name.length + 28;
  for (const { arm, output, scores = '' } of [...predictions, ...tried.flatMap((task) => task.predictions)])
    bytes += arm.length + output.length + scores.length + 32;
  for (const mark of marks) bytes += mark.length;
  return bytes;
}

/** What somebody queued. */
export function resolvedOf(job: FeedbackJob): ResolvedFeedback {
  const { application, context, label, loss, losses, queryId, idempotencyKey, features } = job;
  const { selection, predictions, input, late, tried } = job;
  return {
    application,
    context,
    label,
    loss,
    losses,
    queryId,
    idempotencyKey,
    features,
    selection,
    predictions: predictions?.map(predictionOf),
    late,
    tried: tried?.map((task) => ({ ...task, predictions: task.predictions.map(predictionOf) })),
    input: input === undefined ? undefined : new Uint8Array(Buffer.from(input, 'base64')),
  };
}

/** Whether a job's data has the form of one of ours: others may write to a Redis, too. */
export function isFeedbackJob(data: unknown): data is FeedbackJob {
  if (typeof data !== 'object' || data === null) return false;
  const { application, context, label, loss, losses, marks, features } = data as Partial<FeedbackJob>;
  const { selection, predictions, input, late = [], tried = [] } = data as Partial<FeedbackJob>;
  return (
    typeof application === 'string' &&
    typeof context === 'string' &&
    (typeof label === 'string' || (label === undefined && (loss !== undefined || losses !== undefined))) &&
    (losses === undefined || areNumbers(losses)) &&
    Array.isArray(marks) &&
    marks.every(isMark) &&
    (features === undefined || areNumbers(features)) &&
    Array.isArray(late) &&
    late.every((arm) => typeof arm === 'string') &&
    areTasks(tried) &&
    (isSelection(selection) ? arePredictions(predictions) : typeof input === 'string')
  );
}

function areNumbers(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const numbers: readonly unknown[] = Object.values(value);
  return numbers.every((one) => Number.isFinite(one));
}

/** As the store takes it. */
function isMark(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    value !== '' &&
    Buffer.byteLength(value) <= MOST_MARK_BYTES &&
    !/\p{Surrogate}/u.test(value)
  );
}

function isSelection(value: unknown): value is Selection {
  if (typeof value !== 'object' || value === null) return false;
  const { arms, shadows = [], propensity } = value as Partial<Selection>;
  if (!Array.isArray(shadows) || !shadows.every((arm) => typeof arm === 'string')) return false;
  return (
    Array.isArray(arms) && arms.every((arm) => typeof arm === 'string') && typeof propensity === 'number'
  );
}

function arePredictions(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (one: { readonly arm?: unknown; readonly output?: unknown } | null) =>
        typeof one?.arm === 'string' && typeof one.output === 'string',
    )
  );
}

function areTasks(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (one: Partial<QueuedTask> | null) =>
        typeof one?.model === 'string' &&
        typeof one.trial === 'number' &&
        isSelection(one.selection) &&
        arePredictions(one.predictions),
    )
  );
}

function taskJson({ model, trial, selection, predictions }: TriedTask): QueuedTask {
  return { model, trial, selection: { ...selection }, predictions: predictions.map(predictionJson) };
}

function predictionJson({ arm, output, scores }: ArmPrediction): QueuedPrediction {
  if (scores === undefined) return { arm, output };
  return { arm, output, scores: base64(new Uint8Array(scores.buffer, scores.byteOffset, scores.byteLength)) };
}

function predictionOf({ arm, output, scores }: QueuedPrediction): ArmPrediction {
  if (scores === undefined) return { arm, output };
  // A copy: a view of floats begins at a multiple of four bytes.
  const bytes = new Uint8Array(Buffer.from(scores, 'base64'));
  return { arm, output, scores: new Float32Array(bytes.buffer, 0, bytes.length >> 2) };
}

function base64(bytes: Uint8Array = new Uint8Array(0)): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
