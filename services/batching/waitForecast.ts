import type { BatchSizeController } from './batchSize.js';
import type { Evaluation } from './evaluation.js';
import type { InFlight } from './inFlight.js';
import type { Served } from './served.js';
import type { WaitingEvaluations } from './waitingEvaluations.js';

/** When a replica is expected to answer, by what it has before it and what it has been seen to need. */
export class WaitForecast {
  constructor(
    private readonly waiting: WaitingEvaluations,
    private readonly inFlight: InFlight,
    private readonly served: Served,
    private readonly controller: BatchSizeController,
  ) {}

  /** Whether enough batches were answered to expect anything. */
  get known(): boolean {
    return this.inFlight.estimate.known;
  }

  /** What a batch may be expected to take from sending to its answer; 0 before enough answers. */
  get batchNs(): number {
    return this.inFlight.roundTrips.expectedNs;
  }

  /** Mean service time an item, of late; undefined before the first answer. */
  get itemNs(): number | undefined {
    return this.served.itemNs;
  }

  /**
   * What an item of a batch of such a size is expected to take; undefined before the first answer. Replicas are to be compared at one
   * size: whoever has more before it sends larger batches, in which an item takes less, and would be sent ever more.
   */
  itemNsAt(size: number): number | undefined {
    return this.known ? this.inFlight.estimate.batchNs(size) / size : this.itemNs;
  }

  /** Mean size of batches, of late; undefined before enough batches. */
  get meanSize(): number | undefined {
    return this.known ? this.inFlight.estimate.meanSize : undefined;
  }

  /** What an item of the largest batch is expected to take; undefined before enough batches. */
  get fullItemNs(): number | undefined {
    const limit = this.controller.limit();
    return this.known ? this.inFlight.estimate.batchNs(limit) / limit : undefined;
  }

  /**
   * Whether what it works on takes much longer than of late: others are asked first.
   * @param elsewhereNs what a batch takes its siblings, for a replica that has hardly answered anything.
   */
  isOverdue(nowNs: number, elsewhereNs: number): boolean {
    return this.inFlight.isOverdue(nowNs, elsewhereNs);
  }

  /**
   * By how much an evaluation would miss its expiry behind what the replica has before it; not above 0 when it can be in
   * time. Hopeful wherever nothing is known: an idle replica takes everything, batches are expected to grow, and one that
   * is slower than ever is expected to be done any moment.
   */
  lateByNs(evaluation: Evaluation, nowNs: number): number {
    const queued = this.waiting.size;
    if (!this.known || (this.inFlight.size === 0 && queued === 0)) return 0;
    const budgetNs = evaluation.expiresNs - nowNs;
    const lateNs = this.answerNs(queued, nowNs) - budgetNs;
    if (lateNs <= 0) return lateNs;
    const before = this.waiting.countBefore(evaluation);
    return before >= queued ? lateNs : this.answerNs(before, nowNs) - budgetNs;
  }

  /** Expected time until an evaluation that came now would be answered, above most of late; undefined before enough batches. */
  expectedNs(nowNs: number): number | undefined {
    if (!this.known) return undefined;
    return Math.max(this.answerNs(this.waiting.size, nowNs), this.batchNs);
  }

  /** The latest time at which a batch of such a size can leave and be answered by `deadlineNs`, with something to spare. */
  latestStartNs(size: number, enqueuedNs: number, deadlineNs: number, nowNs: number): number {
    if (!this.known) return deadlineNs - (deadlineNs - enqueuedNs) / 2;
    const batchNs = Math.max(this.inFlight.estimate.batchNs(size), this.inFlight.past.longestNs(1));
    return deadlineNs - this.inFlight.busyNs(nowNs) - SPARE * batchNs;
  }

  /** Expected time until an evaluation with so many before it is answered. */
  private answerNs(before: number, nowNs: number): number {
    const { estimate } = this.inFlight;
    let totalNs = this.inFlight.busyNs(nowNs);
    let left = before + 1;
    for (let batch = 0; left > 0; batch++) {
      const size = Math.min(left, this.controller.limitAfter(batch));
      totalNs += estimate.batchNs(size);
      left -= size;
    }
    return totalNs;
  }
}

const SPARE = 1.25;
