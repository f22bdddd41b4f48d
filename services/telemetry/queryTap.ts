import type { ErrorCode } from '../errors/index.js';
import type { Answer, BatchRecord, FeedbackOutcome, FeedbackRequest, Query } from '../prediction/index.js';

/** Hears of the query path while it is attached. Calls come synchronously on the hot path: count and return. */
export interface QueryTap {
  onAnswer(query: Query, answer: Answer): void;
  onCancel(query: Query): void;
  onRefused(application: string | undefined, code: ErrorCode): void;
  onBatch(record: BatchRecord): void;
  onFeedback(feedback: FeedbackRequest, outcome: FeedbackOutcome): void;
}
