import { mayTravel, type Evaluation } from './evaluation.js';

/** Multiples of it, modulo 1, are spread evenly however many there are. */
const GOLDEN = 0.618_033_988_749_895;

/**
 * Suspects of one replica, first come first served. They travel apart from everybody else, and never more together than
 * the most suspected of them may: each loss makes that less, so that what spoils its batches is soon alone with itself.
 */
export class Quarantine {
  private readonly waiting: Evaluation[] = [];
  /** Where the next one that is taken by itself stands, from 0 to 1. */
  private turn = 0;

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

  /**
   * One that still waits, from anywhere but where the next must have the replica to itself: bad inputs that came one after
   * the other are not asked one after the other.
   */
  takeOne(): Evaluation[] {
    if (this.isDangerous) return this.take(1);
    while (this.waiting.length > 0) {
      this.turn = (this.turn + GOLDEN) % 1;
      const at = Math.floor(this.turn * this.waiting.length);
      const [evaluation] = this.waiting.splice(this.waiting[at].isDangerous ? 0 : at, 1);
      if (evaluation.state === 'queued') return [evaluation];
    }
    return [];
  }

  /** Takes out all that wait and are not dangerous. */
  clearHarmless(): Evaluation[] {
    const all = this.clear();
    this.waiting.push(...all.filter(({ isDangerous }) => isDangerous));
    return all.filter(({ isDangerous }) => !isDangerous);
  }

  clear(): Evaluation[] {
    return this.waiting.splice(0).filter(({ state }) => state === 'queued');
  }
}
