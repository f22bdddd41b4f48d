import type { LaunchClass } from '../../containers/protocol/index.js';
import type { Prediction, PredictionFailure, WaiterTrace } from '../cache/index.js';
import type { BatchTrace, TracedItem } from './batchTrace.js';
import type { HeapItem } from './deadlineHeap.js';

export type EvaluationState = 'new' | 'queued' | 'sent' | 'done';

/** Where an evaluation waits, or who works on it. */
export interface EvaluationHolder {
  /** Somebody else waits for it too, from `deadlineNs` until `expiresNs`. */
  extend(
    evaluation: Evaluation,
    deadlineNs: number,
    expiresNs: number,
    priority: number,
    launchClass: LaunchClass,
  ): void;
  /** Nobody waits for it any more. */
  cancel(evaluation: Evaluation): void;
}

/**
 * One input on its way through one model. It holds the input until it is answered, so that a batch whose replica
 * is lost can be sent again elsewhere. Ends in exactly one of the two callbacks, unless it is cancelled.
 */
export abstract class Evaluation implements HeapItem, TracedItem {
  order = 0;
  heapIndex = -1;
  state: EvaluationState = 'new';
  /** The queue that holds it, or whose replica works on it. */
  queue: EvaluationHolder | undefined;
  batchId = 0;
  /** Its number within its batch. */
  itemId = 0;
  /** Of the batch that it was sent in, where that is traced. */
  batchTrace: BatchTrace | undefined;
  /** Batches that were lost or failed as a whole with it. */
  losses = 0;
  /** Suspected of having spoilt a batch, it travels among suspects only, so many at most; Infinity when it is not. */
  mostTogether = Infinity;
  /** Suspected of having taken its replica down: while it is served, nothing else is in flight there. */
  isDangerous = false;
  /** Its source is not trusted to send nothing that takes replicas down. */
  isOnTrial = false;
  /** Its source sends inputs that the model fails on. */
  isOfBadSource = false;

  /**
   * @param hash of the input.
   * @param deadlineNs when the most urgent of those who wait needs it: its place in the queue.
   * @param expiresNs when the last of them stops waiting: from then on it never reaches a model.
   * @param priority of the most urgent of them, 1 to 5.
   * @param launchClass that its batch's launches are to have: the highest of theirs.
   * @param source whoever sent it, as an object that lives as long as it sends: a connection.
   */
  constructor(
    readonly input: Uint8Array,
    readonly hash: number,
    readonly enqueuedNs: number,
    public deadlineNs: number,
    public expiresNs: number,
    public priority: number,
    public launchClass: LaunchClass,
    readonly traceparent: string | undefined,
    readonly source: object | undefined,
  ) {}

  abstract collectTraces(into: WaiterTrace[]): void;
  abstract onPrediction(prediction: Prediction): void;
  abstract onFailure(failure: PredictionFailure): void;
}

/** Ends an evaluation that has not ended. */
export function failEvaluation(evaluation: Evaluation, failure: PredictionFailure): void {
  if (evaluation.state === 'done') return;
  evaluation.state = 'done';
  evaluation.onFailure(failure);
}

/** Whether suspects may be of one batch: it is of one class. */
export function mayTravel(first: Evaluation, other: Evaluation): boolean {
  return first.isDangerous === other.isDangerous && first.launchClass === other.launchClass;
}
