import type { LoggedFeedback } from '../../selection/index.js';
import type { BatchingObserver, BatchRecord, BatchTrace, TracedItem } from '../batching/index.js';
import type { PolicyFault } from '../policyFiles/index.js';
import type { Answer, FeedbackOutcome, FeedbackRequest, ModelVote, Query, QueryRefusal } from './types.js';

/**
 * What happens on the query path, for telemetry. Calls come synchronously on the hot path: count and return, never
 * throw. Gauges (cache, queues, selection shares) are read from the engine when somebody asks.
 */
export interface PredictionObserver extends BatchingObserver {
  /** Wants `onJudged`, with the features of queries whether their policy looks at them or not. */
  readonly writesFeedback: boolean;
  /** A query has come, whatever becomes of it. */
  onQuery(query: Query): void;
  onAnswer(query: Query, answer: Answer): void;
  onRefusal(query: Query, refusal: QueryRefusal): void;
  /** A model that was asked by its name has answered, or has not within `budgetNs`; undefined: nobody waits any more. */
  onModelCall(vote: ModelVote | undefined, latencyNs: number, budgetNs: number): void;
  /** A model that was asked for a query has failed on its input, before the query's deadline. */
  onModelFailure(query: Query, model: string, version: string, reason: string): void;
  onCancel(query: Query): void;
  /** A prediction came after its query's deadline: it fills the cache and can still be judged by feedback. */
  onLatePrediction(application: string, model: string, version: string): void;
  onFeedback(feedback: FeedbackRequest, outcome: FeedbackOutcome): void;
  /** A query was judged, for the first time. Called only where `writesFeedback` holds. */
  onJudged(judged: LoggedFeedback): void;
  /** A container said hello and is not taken into use. */
  onReplicaRefused(model: string, version: string, replica: string, reason: string): void;
  /** A sink threw when it was given its answer: a fault of the caller, kept from the other queries of the batch. */
  onSinkFailure(query: Query, error: unknown): void;
  /** Learned weights could not be written; they stay in memory and are written again with the next feedback. */
  onStateWriteFailed(key: string, message: string): void;
  /** A policy from a file has failed: what was asked of it goes on without it. */
  onPolicyFault(application: string, fault: PolicyFault): void;
  /** A policy from a file could not be followed: the first model was asked, or answers, in its place. */
  onPolicyFallback(application: string): void;
  onPolicyPrinted(application: string, text: string): void;
}

/** Watches nothing; extend it to watch something. */
export class SilentObserver implements PredictionObserver {
  get writesFeedback(): boolean {
    return false;
  }

  onQuery(_query: Query): void {}
  onAnswer(_query: Query, _answer: Answer): void {}
  onRefusal(_query: Query, _refusal: QueryRefusal): void {}
  onModelCall(_vote: ModelVote | undefined, _latencyNs: number, _budgetNs: number): void {}
  onModelFailure(_query: Query, _model: string, _version: string, _reason: string): void {}
  onCancel(_query: Query): void {}
  onLatePrediction(_application: string, _model: string, _version: string): void {}
  onFeedback(_feedback: FeedbackRequest, _outcome: FeedbackOutcome): void {}
  onJudged(_judged: LoggedFeedback): void {}
  onBatchSent(
    _model: string,
    _version: string,
    _replica: string,
    _items: readonly TracedItem[],
  ): BatchTrace | undefined {
    return undefined;
  }
  onBatch(_record: BatchRecord): void {}
  onProtocolError(_model: string, _version: string, _replica: string, _message: string): void {}
  onRequeued(_model: string, _version: string, _replica: string, _inputs: number): void {}
  onReplicaUp(_model: string, _version: string, _replica: string): void {}
  onReplicaDown(_model: string, _version: string, _replica: string, _reason: string): void {}
  onReplicaRefused(_model: string, _version: string, _replica: string, _reason: string): void {}
  onSinkFailure(_query: Query, _error: unknown): void {}
  onStateWriteFailed(_key: string, _message: string): void {}
  onPolicyFault(_application: string, _fault: PolicyFault): void {}
  onPolicyFallback(_application: string): void {}
  onPolicyPrinted(_application: string, _text: string): void {}
}
