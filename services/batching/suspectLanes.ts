import type { Delivery } from './batchResults.js';
import type { ClassQueue } from './classQueue.js';
import { failEvaluation, type Evaluation } from './evaluation.js';
import type { Batch } from './inFlight.js';
import { LimitedLane } from './limitedLane.js';
import { ModelTrust } from './modelTrust.js';
import { Quarantine } from './quarantine.js';
import { TrialLane } from './trialLane.js';
import type { SuspectInputs } from './suspectInputs.js';

/** What bad sources get of a replica's time for each part of it that others get: a quarter of it in all, while others wait. */
const LIMITED_RATIO = 1 / 3;
/** Shares of a replica's queue that all inputs of bad sources, and those of each, may take. */
const MOST_LIMITED = 1 / 4;
const MOST_OF_SOURCE = 1 / 16;
/** Time that they may save up. */
const MOST_SAVED_NS = 20e6;

/** Who is sent next; nobody: not before what is in flight is answered. */
export type Turn = 'nobody' | 'accused' | 'trial' | 'limited' | 'others';

export type Lane = Exclude<Turn, 'nobody' | 'others'>;

/**
 * Those who travel apart, at one replica: inputs that were in batches that were spoilt, who go before everybody else since they
 * have waited once; inputs of sources that send bad ones, who get a share of the time while others wait; and, at a replica that is
 * there for them, inputs of sources that may take it down.
 */
export class SuspectLanes {
  private readonly accused = new Quarantine();
  private readonly limited = new LimitedLane();
  private readonly trial: TrialLane;
  private readonly trust = new ModelTrust();
  private isTurnOfSuspects = false;
  private savedNs = 0;
  private limitedInFlight = 0;

  /**
   * @param suspects what is known of the model's inputs at all of its replicas.
   * @param maxBatchSize what the container takes at most: those who wait again are not held to what is in time.
   * @param sendApart takes what may take this replica down to another one, where there is one for it; says whether it did.
   */
  constructor(
    private readonly suspects: SuspectInputs,
    private readonly maxBatchSize: number,
    private readonly sendApart: (evaluation: Evaluation) => boolean,
  ) {
    this.trial = new TrialLane(suspects.killing);
  }

  get size(): number {
    return this.accused.size + this.trial.size + this.limited.size;
  }

  push(evaluation: Evaluation): void {
    const { source, isOfBadSource, isDangerous, isOnTrial } = evaluation;
    if (source !== undefined && isOnTrial) this.trial.push(source, evaluation);
    else if (source !== undefined && isOfBadSource && !isDangerous) this.limited.push(source, evaluation);
    else this.accused.push(evaluation);
  }

  /** Takes in whoever waited among the others until its source turned out to be a bad one. @returns whether it did. */
  readonly divert = (evaluation: Evaluation, nowNs: number): boolean => {
    const isOnTrial = this.suspects.isOnTrial(evaluation, nowNs);
    if (isOnTrial && this.sendApart(evaluation)) return true;
    if (!isOnTrial && !this.suspects.isOfBadSource(evaluation)) return false;
    this.push(evaluation);
    return true;
  };

  /** How many are answered before it. */
  countBefore(evaluation: Evaluation, waiting: ClassQueue): number {
    const { accused, limited, trial } = this;
    if (evaluation.isOnTrial) return accused.size + trial.size;
    if (!evaluation.isOfBadSource) return accused.size + waiting.countBefore(evaluation);
    return accused.size + limited.size * (waiting.size > 0 ? 1 + 1 / LIMITED_RATIO : 1);
  }

  /** Whether no more of this source's inputs may wait. */
  isFullFor(source: object, maxQueued: number): boolean {
    return (
      this.limited.size + this.trial.size >= maxQueued * MOST_LIMITED ||
      this.limited.sizeOf(source) + this.trial.sizeOf(source) >= maxQueued * MOST_OF_SOURCE
    );
  }

  /** Dangerous ones take turns with the others, who go first: whatever happens then, they have been served. */
  turn(othersWait: boolean, areInFlight: boolean, nowNs: number): Turn {
    const { isDangerous, size } = this.accused;
    if (size > 0 && (!isDangerous || this.isTurnOfSuspects || !othersWait)) {
      // What may take the replica down takes nothing else with it.
      return isDangerous && areInFlight ? 'nobody' : 'accused';
    }
    if (this.isTurnOfTrial(othersWait, nowNs)) return areInFlight ? 'nobody' : 'trial';
    return this.isTurnOfLimited(othersWait) ? 'limited' : 'others';
  }

  /** The next suspects that may travel together. */
  take(lane: Lane, limit: number, nowNs: number): Evaluation[] {
    if (lane === 'limited') return this.limited.take(limit);
    this.isTurnOfSuspects = false;
    if (lane === 'trial') return this.trial.take(limit, nowNs);
    return this.trust.asksOneByOne ? this.accused.takeOne() : this.accused.take(this.maxBatchSize);
  }

  onOthersSent(): void {
    this.isTurnOfSuspects = true;
  }

  /** When the next suspect may be sent that may not yet; Infinity where nobody waits for that. */
  dueNs(nowNs: number): number {
    const dueNs = this.trial.dueNs(nowNs);
    return dueNs > nowNs ? dueNs : Infinity;
  }

  private isTurnOfTrial(othersWait: boolean, nowNs: number): boolean {
    if (this.trial.size === 0 || (othersWait && !this.isTurnOfSuspects)) return false;
    return this.trial.dueNs(nowNs) <= nowNs;
  }

  private isTurnOfLimited(othersWait: boolean): boolean {
    if (this.limited.size === 0 || this.accused.size > 0) return false;
    return !othersWait || (this.limitedInFlight === 0 && this.savedNs >= 0);
  }

  /** Whether a batch of inputs of bad sources is not answered yet. */
  get isLimitedInFlight(): boolean {
    return this.limitedInFlight > 0;
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

  /**
   * What a delivery says of the model.
   * @param areAlone each that failed did so by itself.
   */
  onDelivered(
    { isLimited, isAlone }: Batch,
    { answered, failed, failure }: Delivery,
    areAlone: boolean,
  ): void {
    if (answered > 0) {
      this.trust.onAnswered();
      this.suspects.onAnswered(isAlone);
    } else if (areAlone && !isLimited) {
      for (let at = 0; at < failed; at++) this.trust.onFailedAlone();
      if (this.trust.isHopeless) this.giveUp(failure ?? '');
    }
  }

  /**
   * One input may have spoilt a batch for all of these: they are suspects from now on.
   * @param areSome others of the batch had answers of their own, or failed by themselves.
   * @returns those to be asked again, fewer together; of a model that fails whatever it gets none, and `message` is why.
   */
  accuse(items: readonly Evaluation[], areSome: boolean, message: string, nowNs: number): Evaluation[] {
    if (!areSome) this.trust.onFailedTogether();
    this.suspects.accuse(items, false, false, nowNs);
    const open = items.filter(({ state }) => state === 'sent');
    if (!areSome || !this.trust.isHopeless) return open;
    for (const evaluation of open) {
      // Whoever hears of one may cancel another.
      if (evaluation.state === 'sent') failEvaluation(evaluation, { reason: 'model_error', message });
    }
    return [];
  }

  /** Nobody who was in a spoilt batch is asked again. */
  private giveUp(message: string): void {
    for (const evaluation of this.accused.clearHarmless()) {
      failEvaluation(evaluation, { reason: 'model_error', message });
    }
  }

  clear(): Evaluation[] {
    return [...this.accused.clear(), ...this.trial.clear(), ...this.limited.clear()];
  }
}
