import type { ServiceParts } from '../../containers/protocol/index.js';
import type { BatchTrace, TracedItem } from './batchTrace.js';

/** What became of a batch, for those who measure. */
export interface BatchRecord {
  readonly model: string;
  readonly version: string;
  readonly replica: string;
  readonly size: number;
  /** The controller's limit when the batch was sent, and now. */
  readonly limit: number;
  readonly newLimit: number;
  /** The longest and the summed wait of its items in the queue. */
  readonly longestQueueNs: number;
  readonly totalQueueNs: number;
  /** As the container measured it. */
  readonly serviceNs: number;
  /** What of it was not computing, where the container can tell. */
  readonly parts?: ServiceParts | undefined;
  /** From sending to the answer, as the frontend saw it. */
  readonly roundTripNs: number;
  /** Items that failed, and why the first of them did. */
  readonly failed: number;
  readonly failure: string | undefined;
  /** Where it is traced; told of its end by whoever observes. */
  readonly trace?: BatchTrace | undefined;
  /** W3C trace context that went to the container, when there was one. */
  readonly traceparent?: string | undefined;
}

/** Events of queues and replicas. Calls come on the query path: count and return. */
export interface BatchingObserver {
  /** A batch is about to leave. Its trace, if it gets one, goes with it to the container. */
  onBatchSent(
    model: string,
    version: string,
    replica: string,
    items: readonly TracedItem[],
  ): BatchTrace | undefined;
  onBatch(record: BatchRecord): void;
  /** A container broke the protocol; the replica stays in use. */
  onProtocolError(model: string, version: string, replica: string, message: string): void;
  /** A replica was lost with this many inputs that others get now. */
  onRequeued(model: string, version: string, replica: string, inputs: number): void;
  onReplicaUp(model: string, version: string, replica: string): void;
  onReplicaDown(model: string, version: string, replica: string, reason: string): void;
}

/** The state of one replica's queue. */
export interface ReplicaStatus {
  readonly model: string;
  readonly version: string;
  readonly replica: string;
  readonly strategy: string;
  readonly maxBatchSize: number;
  readonly queued: number;
  readonly inFlightItems: number;
  readonly inFlightBatches: number;
  /** Batches that it takes beside those in flight. */
  readonly credits: number;
  /** Mean service time an item, of late; undefined before the first answer. */
  readonly itemNs: number | undefined;
  readonly batches: number;
  readonly items: number;
  /** Time with a batch in flight since the replica came, in nanoseconds. */
  readonly busyNs: number;
  /** What an item of the largest batch is expected to take, in nanoseconds; undefined before enough batches. */
  readonly fullItemNs: number | undefined;
}
