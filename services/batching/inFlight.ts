import type { LaunchClass } from '../../containers/protocol/index.js';
import type { BatchTrace } from './batchTrace.js';
import { isAbove } from './classQueue.js';
import type { Evaluation } from './evaluation.js';
import { RecentRoundTrips } from './recentRoundTrips.js';
import { ServiceEstimate } from './serviceEstimate.js';
import { ServicePast } from './servicePast.js';

const OVERDUE_FACTOR = 3;
/** Less is no sign of anything. */
const OVERDUE_LEAST_NS = 5e6;

/** A batch that a replica has. */
export interface Batch {
  readonly id: number;
  readonly items: Evaluation[];
  readonly launchClass: LaunchClass;
  readonly limit: number;
  readonly sentNs: number;
  readonly longestQueueNs: number;
  readonly totalQueueNs: number;
  /** Nothing else is sent until it is answered. */
  readonly isAlone: boolean;
  /** Of inputs of bad sources. */
  readonly isLimited: boolean;
  readonly trace: BatchTrace | undefined;
  /** W3C trace context that went with it. */
  readonly traceparent: string | undefined;
}

/** The batches that a replica works on, and what it has been seen to need for a batch. */
export class InFlight {
  /** Items in all batches. */
  items = 0;
  /** What a batch takes without waiting anywhere. */
  readonly estimate = new ServiceEstimate();
  readonly past = new ServicePast();
  /** From sending to the answer. */
  readonly roundTrips = new RecentRoundTrips();
  /** In order of sending: a few, as many as the container gives credits. */
  private readonly batches: Batch[] = [];
  private lastResultNs = -Infinity;
  /** Since when the oldest batch has had the container to itself. */
  private oldestSinceNs = 0;
  /** Time with a batch in flight, up to the present stretch's begin. */
  private pastBusyNs = 0;
  private busySinceNs = 0;
  private alone = 0;

  /** @param elsewhere what batches of late have taken all replicas of the model. */
  constructor(readonly elsewhere = new ServicePast()) {}

  /** Batches. */
  get size(): number {
    return this.batches.length;
  }

  /** Whether a batch is in flight that must have the replica to itself. */
  get isAlone(): boolean {
    return this.alone > 0;
  }

  add(batch: Batch): void {
    if (this.batches.length === 0) {
      this.busySinceNs = batch.sentNs;
      this.oldestSinceNs = batch.sentNs;
    }
    this.batches.push(batch);
    this.items += batch.items.length;
    if (batch.isAlone) this.alone += 1;
  }

  get(id: number): Batch | undefined {
    for (const batch of this.batches) if (batch.id === id) return batch;
    return undefined;
  }

  /**
   * Takes out a batch that was answered, and learns from it.
   * @param isTypical whether it took what batches of its size take.
   */
  remove(batch: Batch, nowNs: number, isTypical: boolean): void {
    const oldest = this.oldest();
    const wasOldest = oldest === batch;
    const size = batch.items.length;
    if (wasOldest) this.batches.shift();
    else this.batches.splice(this.batches.indexOf(batch), 1);
    this.items -= size;
    if (batch.isAlone) this.alone -= 1;
    if (this.batches.length === 0) this.pastBusyNs += nowNs - this.busySinceNs;
    // A container serves one batch after the other: this one began when the one before it was done.
    const tookNs = nowNs - Math.max(batch.sentNs, this.lastResultNs);
    if (isTypical) {
      this.estimate.record(size, tookNs);
      const dueNs = wasOldest ? nowNs - this.oldestSinceNs : nowNs - batch.sentNs;
      this.past.record(size, dueNs);
      this.elsewhere.record(size, dueNs);
      this.roundTrips.record(nowNs - batch.sentNs);
    }
    this.lastResultNs = nowNs;
    // A batch of a higher class may overtake: the one that it has overtaken is not silent.
    const overtook = oldest !== undefined && isAbove(batch.launchClass, oldest.launchClass);
    if (wasOldest || overtook) this.oldestSinceNs = nowNs;
  }

  /** Whether all that is in flight is of lower classes. */
  isBelow(launchClass: LaunchClass): boolean {
    for (const batch of this.batches) if (!isAbove(launchClass, batch.launchClass)) return false;
    return true;
  }

  oldest(): Batch | undefined {
    return this.batches[0];
  }

  /** How long the oldest batch has been the one that is due. */
  silentNs(nowNs: number): number {
    return nowNs - this.oldestSinceNs;
  }

  /**
   * Whether the oldest batch takes several times what a batch takes of late.
   * @param elsewhereNs what it takes elsewhere, for as long as nothing is known from here; 0: nobody knows.
   */
  isOverdue(nowNs: number, elsewhereNs: number): boolean {
    const expectedNs = this.roundTrips.expectedNs === 0 ? elsewhereNs : this.roundTrips.expectedNs;
    if (this.batches.length === 0 || expectedNs === 0) return false;
    return nowNs - this.oldestSinceNs > OVERDUE_FACTOR * expectedNs + OVERDUE_LEAST_NS;
  }

  /** What the container still needs for what it has. */
  busyNs(nowNs: number): number {
    const first = this.oldest();
    if (first === undefined) return 0;
    const { fixedNs, itemNs } = this.estimate;
    const sinceNs = Math.max(first.sentNs, this.lastResultNs);
    return Math.max(0, this.batches.length * fixedNs + this.items * itemNs - (nowNs - sinceNs));
  }

  /** Time with a batch in flight since the replica came. */
  totalBusyNs(nowNs: number): number {
    return this.pastBusyNs + (this.batches.length === 0 ? 0 : nowNs - this.busySinceNs);
  }

  /** Takes all batches out, in order of sending. */
  clear(): Batch[] {
    const batches = this.batches.splice(0);
    this.items = 0;
    this.alone = 0;
    return batches;
  }
}
