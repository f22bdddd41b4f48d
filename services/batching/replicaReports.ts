import type { HelloFrame } from '../../containers/protocol/index.js';
import type { BatchingObserver } from './batchRecord.js';
import type { ServiceTimes } from './batchResults.js';
import type { BatchTrace } from './batchTrace.js';
import type { Evaluation } from './evaluation.js';
import type { Batch } from './inFlight.js';

/** Tells whoever measures what happens at one replica, under its name. */
export class ReplicaReports {
  constructor(
    private readonly observer: BatchingObserver,
    private readonly hello: HelloFrame,
  ) {}

  /** A batch is about to leave. @returns its trace, if it gets one */
  onSent(evaluations: readonly Evaluation[]): BatchTrace | undefined {
    const { model, version, replica } = this.hello;
    return this.observer.onBatchSent(model, version, replica, evaluations);
  }

  /**
   * Every item of a batch has its outcome.
   * @param newLimit of the batches after it.
   * @param failed items that did, and why the first of them.
   */
  onAnswered(
    batch: Batch,
    newLimit: number,
    { roundTripNs, serviceNs, parts }: ServiceTimes,
    failed: number,
    failure: string | undefined,
  ): void {
    const { model, version, replica } = this.hello;
    const { limit, longestQueueNs, totalQueueNs, trace, traceparent } = batch;
    this.observer.onBatch({
      model,
      version,
      replica,
      size: batch.items.length,
      limit,
      newLimit,
      longestQueueNs,
      totalQueueNs,
      roundTripNs,
      serviceNs,
      parts,
      failed,
      failure,
      trace,
      traceparent,
    });
  }

  /** The container broke the protocol, and stays in use. */
  complain(message: string): void {
    const { model, version, replica } = this.hello;
    this.observer.onProtocolError(model, version, replica, message);
  }

  onDown(reason: string): void {
    const { model, version, replica } = this.hello;
    this.observer.onReplicaDown(model, version, replica, reason);
  }
}
