import type { BatchSizeController } from './batchSize.js';
import type { InFlight } from './inFlight.js';

/** When a replica is expected to answer, by what it has before it and what it has been seen to need. */
export class WaitForecast {
  constructor(
    private readonly inFlight: InFlight,
    private readonly controller: BatchSizeController,
    private readonly maxBatchSize: number,
  ) {}

  /** Whether enough batches were answered to expect anything. */
  get known(): boolean {
    return this.inFlight.estimate.known;
  }

  /**
   * Expected time until an evaluation with so many before it is answered. Hopeful: batches are expected to grow, and one
   * that is slower than ever is expected to be done any moment.
   */
  answerNs(before: number, nowNs: number): number {
    const { estimate } = this.inFlight;
    let totalNs = this.inFlight.busyNs(nowNs);
    let left = before + 1;
    for (let batch = 0; left > 0; batch++) {
      const size = Math.min(left, this.controller.limitAfter(batch), this.maxBatchSize);
      totalNs += estimate.batchNs(size);
      left -= size;
    }
    return totalNs;
  }

  /** The latest time at which a batch of such a size can leave and be answered by `deadlineNs`, with something to spare. */
  latestStartNs(size: number, enqueuedNs: number, deadlineNs: number, nowNs: number): number {
    if (!this.known) return deadlineNs - (deadlineNs - enqueuedNs) / 2;
    const batchNs = Math.max(this.inFlight.estimate.batchNs(size), this.inFlight.past.longestNs(1));
    return deadlineNs - this.inFlight.busyNs(nowNs) - SPARE * batchNs;
  }
}

const SPARE = 1.25;
