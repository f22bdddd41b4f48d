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
  const items: BatchItem[] = [];
  let longestQueueNs = 0;
  let totalQueueNs = 0;
  let traceparent: string | undefined;
  for (const evaluation of evaluations) {
    evaluation.state = 'sent';
    evaluation.batchId = id;
    evaluation.batchTrace = undefined;
    evaluation.itemId = items.length;
    items.push({
      id: evaluation.itemId,
      bytes: evaluation.input,
      budgetNs: evaluation.expiresNs - nowNs,
    });
    const queueNs = nowNs - evaluation.enqueuedNs;
    totalQueueNs += queueNs;
    if (queueNs > longestQueueNs) longestQueueNs = queueNs;
    traceparent ??= evaluation.traceparent;
  }
  return { items, longestQueueNs, totalQueueNs, traceparent };
}
