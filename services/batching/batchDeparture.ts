import type { BatchItem } from '../../containers/protocol/index.js';
import type { Evaluation } from './evaluation.js';

/** Evaluations as they leave for a container, and how long they have waited. */
export interface BatchDeparture {
  readonly items: readonly BatchItem[];
  readonly longestQueueNs: number;
  readonly totalQueueNs: number;
  /** Of the first that has one. */
  readonly traceparent: string | undefined;
}

/** Marks evaluations as sent in the batch of this id. */
export function depart(id: number, evaluations: readonly Evaluation[], nowNs: number): BatchDeparture {
  // Pushed onto an empty array, one item would reserve room for 17.
  const items = new Array<BatchItem>(evaluations.length);
  let longestQueueNs = 0;
  let totalQueueNs = 0;
  let traceparent: string | undefined;
  for (let at = 0; at < items.length; at++) {
    const evaluation = evaluations[at];
    evaluation.state = 'sent';
    evaluation.batchId = id;
    evaluation.batchTrace = undefined;
    evaluation.itemId = at;
    items[at] = { id: at, bytes: evaluation.input, budgetNs: evaluation.expiresNs - nowNs };
    const queueNs = nowNs - evaluation.enqueuedNs;
    totalQueueNs += queueNs;
    if (queueNs > longestQueueNs) longestQueueNs = queueNs;
    traceparent ??= evaluation.traceparent;
  }
  return { items, longestQueueNs, totalQueueNs, traceparent };
}
