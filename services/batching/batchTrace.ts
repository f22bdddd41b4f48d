import type { WaiterTrace } from '../cache/index.js';
import type { BatchRecord } from './batchRecord.js';

/** An item of a batch, for whoever traces it. */
export interface TracedItem {
  /** Adds the traces of all requests that wait for it. */
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
