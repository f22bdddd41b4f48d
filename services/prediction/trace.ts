import type { Lookup, WaiterTrace } from '../cache/index.js';
import type { Answer, QueryRefusal } from './types.js';

/** What models are asked under in a trace. Only traced requests have one: the others cost a comparison with undefined. */
export interface TraceScope {
  onAsked(model: string, version: string, lookup: Lookup): WaiterTrace;
}

/** The trace of one query, from its acceptance; ends with its answer, refusal or cancellation. */
export interface QueryTrace extends TraceScope {
  /** The policy has chosen; nothing of it when the client named a version. */
  onSelected(policy: string, arms: readonly string[]): void;
  onAnswer(answer: Answer): void;
  onRefusal(refusal: QueryRefusal): void;
  onCancel(): void;
}
