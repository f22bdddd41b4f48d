import type { WaiterTrace } from '../cache/index.js';
import type { BatchRecord } from './batchRecord.js';

/** A batch that leaves for its container. */
export interface SentBatch {
  readonly model: string;
  readonly version: string;
  readonly replica: string;
  readonly evaluations: readonly TracedItem[];
}

export interface TracedItem {
  /** Adds those of all traced requests that wait for it. */
  collectTraces(into: WaiterTrace[]): void;
}

/** The trace of one batch, from its sending to its results. Ends with `onEnd` or `onLost`. */
export interface BatchTrace {
  /** W3C trace context that goes to the container. */
  readonly traceparent: string;
  /** A traced request joins the evaluation of an item that is on its way. */
  onJoin(trace: WaiterTrace): void;
  onEnd(record: BatchRecord): void;
  /** Its replica was lost. */
  onLost(reason: string): void;
}
