import type { Evaluation } from './evaluation.js';
import type { ReplicaQueue } from './replicaQueue.js';

/** Replicas of one model that are out of use with something left to answer, and who wants to hear of their ends. */
export class RetiringReplicas {
  private readonly told = new Map<ReplicaQueue, (() => void)[]>();

  get queues(): readonly ReplicaQueue[] {
    return [...this.told.keys()];
  }

  /** @returns what waited for it, most urgent first: see `ReplicaQueue.retire` */
  begin(queue: ReplicaQueue): Evaluation[] {
    this.told.set(queue, []);
    return queue.retire(() => {
      const told = this.told.get(queue) ?? [];
      this.told.delete(queue);
      for (const done of told) done();
    });
  }

  /** Calls back when a replica has ended; at once when it has. */
  await(queue: ReplicaQueue, done: () => void): void {
    const told = this.told.get(queue);
    if (told === undefined) done();
    else told.push(done);
  }

  /** Calls back when all that there are have ended. */
  awaitAll(done: () => void): void {
    let left = this.told.size + 1;
    const one = (): void => {
      if (--left === 0) done();
    };
    for (const told of this.told.values()) told.push(one);
    one();
  }
}
