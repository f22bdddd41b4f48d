import type { Evaluation } from './evaluation.js';

/**
 * Suspects of one replica, first come first served. They travel apart from everybody else, and never more together than
 * the most suspected of them may: each loss makes that less, so that what spoils its batches is soon alone with itself.
 */
export class Quarantine {
  private readonly waiting: Evaluation[] = [];

  get size(): number {
    return this.waiting.length;
  }

  push(evaluation: Evaluation): void {
    this.waiting.push(evaluation);
  }

  /** Whether the next group must have the replica to itself. */
  get isDangerous(): boolean {
    return this.waiting.length > 0 && this.waiting[0].isDangerous;
  }

  /** The next that may travel together, of those that still wait. */
  take(most: number): Evaluation[] {
    const group: Evaluation[] = [];
    let room = most;
    let taken = 0;
    for (const evaluation of this.waiting) {
      if (evaluation.state === 'queued') {
        room = Math.min(room, evaluation.mostTogether);
        if (group.length >= room || (group.length > 0 && !mayTravel(group[0], evaluation))) break;
        group.push(evaluation);
      }
      taken += 1;
    }
    this.waiting.splice(0, taken);
    return group;
  }

  clear(): Evaluation[] {
    return this.waiting.splice(0).filter(({ state }) => state === 'queued');
  }
}

/** A batch is of one class. */
function mayTravel(first: Evaluation, other: Evaluation): boolean {
  return first.isDangerous === other.isDangerous && first.launchClass === other.launchClass;
}
