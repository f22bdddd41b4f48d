import type { Evaluation } from './evaluation.js';
import type { ReplicaQueue } from './replicaQueue.js';

/** Longer than any wait. */
const OVERDUE_NS = 1e15;

/** The replicas of one model that serve everybody, and which of them an evaluation goes to. */
export class ReplicaChoice {
  readonly queues: ReplicaQueue[] = [];
  /** Where the search for the least busy replica starts, so that equals take turns. */
  private turn = 0;

  /** @returns whether it was one of them */
  remove(queue: ReplicaQueue): boolean {
    const at = this.queues.indexOf(queue);
    if (at >= 0) this.queues.splice(at, 1);
    return at >= 0;
  }

  /**
   * The replica with the least expected wait among those that have room; any of them when none has. Of many replicas it looks at
   * few while some are idle: no wait is less than none.
   */
  leastWait(nowNs: number): ReplicaQueue | undefined {
    const { queues } = this;
    this.turn = (this.turn + 1) % Math.max(queues.length, 1);
    for (let step = 0; step < queues.length; step++) {
      const queue = queues[(this.turn + step) % queues.length];
      // With nothing in flight it cannot hang either.
      if (queue.backlog === 0 && !queue.full) return queue;
    }
    return this.leastBusy(nowNs);
  }

  /** Where all of them have something to do. */
  private leastBusy(nowNs: number): ReplicaQueue | undefined {
    const { queues } = this;
    const unmeasuredNs = this.meanItemNs();
    const longestNs = this.longestBatchNs();
    let best: ReplicaQueue | undefined;
    let bestNs = Infinity;
    for (let step = 0; step < queues.length; step++) {
      const queue = queues[(this.turn + step) % queues.length];
      let waitNs = queue.full ? Infinity : queue.backlog * (queue.forecast.itemNs ?? unmeasuredNs);
      // It may hang: better anybody else who has room.
      if (queue.forecast.isOverdue(nowNs, longestNs)) waitNs += OVERDUE_NS;
      if (best === undefined || waitNs < bestNs) {
        best = queue;
        bestNs = waitNs;
      }
    }
    return best;
  }

  /** A replica that can still be in time, where the one with the least wait cannot: it may serve in larger batches. */
  inTime(evaluation: Evaluation, nowNs: number): ReplicaQueue | undefined {
    return this.queues.find((queue) => !queue.full && queue.forecast.lateByNs(evaluation, nowNs) <= 0);
  }

  /** What a replica that has answered nothing yet is taken to need: as much as its siblings do. */
  private meanItemNs(): number {
    let sumNs = 0;
    let measured = 0;
    for (const { forecast } of this.queues) {
      if (forecast.itemNs === undefined) continue;
      sumNs += forecast.itemNs;
      measured += 1;
    }
    return measured === 0 ? 1 : sumNs / measured;
  }

  /** What a batch takes the slowest of the replicas that have answered some; 0 when none has. */
  private longestBatchNs(): number {
    let longestNs = 0;
    for (const { forecast } of this.queues) if (forecast.batchNs > longestNs) longestNs = forecast.batchNs;
    return longestNs;
  }
}
