import type { ClassQueue } from './classQueue.js';
import { failEvaluation, type Evaluation } from './evaluation.js';
import { LimitedLane } from './limitedLane.js';
import { Quarantine } from './quarantine.js';

/** What bad sources get of a replica's time for each part of it that others get: a quarter of it in all, while others wait. */
const LIMITED_RATIO = 1 / 3;
/** Shares of a replica's queue that all inputs of bad sources, and those of each, may take. */
const MOST_LIMITED = 1 / 4;
const MOST_OF_SOURCE = 1 / 16;
/** Time that they may save up. */
const MOST_SAVED_NS = 20e6;

/**
 * Those who travel apart, at one replica: inputs that were in batches that were spoilt, who go before everybody else since they
 * have waited once; and inputs of sources that send bad ones, who get a share of the time while others wait.
 */
export class SuspectLanes {
  readonly accused = new Quarantine();
  readonly limited = new LimitedLane();
  private savedNs = 0;
  private limitedInFlight = 0;

  get size(): number {
    return this.accused.size + this.limited.size;
  }

  push(evaluation: Evaluation): void {
    const { source, isOfBadSource, isDangerous } = evaluation;
    if (isOfBadSource && !isDangerous && source !== undefined) this.limited.push(source, evaluation);
    else this.accused.push(evaluation);
  }

  /** How many are answered before it. */
  countBefore(evaluation: Evaluation, waiting: ClassQueue): number {
    const { accused, limited } = this;
    if (!evaluation.isOfBadSource) return accused.size + waiting.countBefore(evaluation);
    return accused.size + limited.size * (waiting.size > 0 ? 1 + 1 / LIMITED_RATIO : 1);
  }

  /** Whether no more of this source's inputs may wait. */
  isFullFor(source: object, maxQueued: number): boolean {
    return (
      this.limited.size >= maxQueued * MOST_LIMITED ||
      this.limited.sizeOf(source) >= maxQueued * MOST_OF_SOURCE
    );
  }

  /** Whether it is the turn of inputs of bad sources. */
  isTurnOfLimited(othersWait: boolean): boolean {
    if (this.limited.size === 0 || this.accused.size > 0) return false;
    return !othersWait || (this.limitedInFlight === 0 && this.savedNs >= 0);
  }

  onLimitedSent(): void {
    this.limitedInFlight += 1;
  }

  onServed(isLimited: boolean, serviceNs: number): void {
    if (isLimited) {
      this.limitedInFlight -= 1;
      // What they took while nobody else waited is not held against them.
      this.savedNs = Math.max(this.savedNs - serviceNs, -serviceNs);
    } else {
      this.savedNs = Math.min(MOST_SAVED_NS, this.savedNs + serviceNs * LIMITED_RATIO);
    }
  }

  /** The model fails whatever it gets: nobody who was in a spoilt batch is asked again. */
  giveUp(message: string): void {
    for (const evaluation of this.accused.clearHarmless()) {
      failEvaluation(evaluation, { reason: 'model_error', message });
    }
  }

  clear(): Evaluation[] {
    return [...this.accused.clear(), ...this.limited.clear()];
  }
}
