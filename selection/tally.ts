import { numberOrNull, type JsonObject } from './parameters.js';
import { lossOf } from './loss.js';
import type { Arm, ArmPrediction, Feedback, Json, Selection } from './policy.js';
import { isRecord, numberList, stringList } from './stateShape.js';

/** What feedback has said of each arm. Older feedback counts for less when there is a memory. */
export interface Tally {
  readonly arms: readonly Arm[];
  /** How often each arm was judged. */
  readonly judged: readonly number[];
  /** The sum of its rewards, each in [0, 1]. */
  readonly rewarded: readonly number[];
  /** A feedback that is so many feedbacks old counts 1/e of a new one; null: all count alike for ever. */
  readonly memory: number | null;
}

/** Long enough to tell arms apart that differ by a few percent, short enough to follow one that fails. */
const DEFAULT_MEMORY = 5000;

/** Of each arm. As good for users as more in the contextPrior experiment, and soon made up for by who is different. */
export const PRIOR_FEEDBACKS = 20;

/** @throws PolicyError when it is neither null nor a number above 1. */
export function memoryFrom(parameters: JsonObject): number | null {
  return numberOrNull(parameters, 'memory', DEFAULT_MEMORY);
}

export function emptyTally(arms: readonly Arm[], memory: number | null): Tally {
  return { arms, judged: arms.map(() => 0), rewarded: arms.map(() => 0), memory };
}

/** The columns of a stored tally; undefined when they are none. */
export function tallyFrom(value: Json): Tally | undefined {
  if (!isRecord(value)) return undefined;
  const { arms, judged, rewarded, memory } = value;
  if (!stringList(arms) || !numberList(judged) || !numberList(rewarded)) return undefined;
  if (memory !== null && typeof memory !== 'number') return undefined;
  if (judged.length !== arms.length || rewarded.length !== arms.length) return undefined;
  // Sums of discounted ones and rewards: a reward sum may be above its count by rounding only.
  const sane = judged.every((count, at) => count >= 0 && rewarded[at] >= 0 && rewarded[at] <= count + 1e-6);
  return sane ? { arms, judged, rewarded, memory } : undefined;
}

/** After arms came and went; a newcomer has not been judged. */
export function carriedTally(tally: Tally, arms: readonly Arm[]): Tally {
  const carry = (column: readonly number[]): number[] =>
    arms.map((arm) => {
      const at = tally.arms.indexOf(arm);
      return at < 0 ? 0 : column[at];
    });
  return { arms, judged: carry(tally.judged), rewarded: carry(tally.rewarded), memory: tally.memory };
}

/** What is kept of everything learned when a feedback comes. */
export function keptShare({ memory }: Tally): number {
  return memory === null ? 1 : 1 - 1 / memory;
}

/** A feedback on one arm ages what is known of all: an arm that is not asked for long becomes unknown again. */
function afterFeedback(tally: Tally, at: number, reward: number): Tally {
  const keep = keptShare(tally);
  const judged: number[] = [];
  const rewarded: number[] = [];
  for (let arm = 0; arm < tally.arms.length; arm++) {
    judged.push(tally.judged[arm] * keep + (arm === at ? 1 : 0));
    rewarded.push(tally.rewarded[arm] * keep + (arm === at ? reward : 0));
  }
  return { arms: tally.arms, judged, rewarded, memory: tally.memory };
}

/** What feedback says of the one arm that served a query; undefined when that arm is no longer there. */
export function afterServing(
  tally: Tally,
  selection: Selection,
  predictions: readonly ArmPrediction[],
  feedback: Feedback,
): Tally | undefined {
  const served = selection.arms[0];
  const at = served === undefined ? -1 : tally.arms.indexOf(served);
  return at < 0 ? undefined : afterFeedback(tally, at, 1 - lossOf(served, predictions, feedback));
}

/** The columns after several arms were judged by one feedback, each for itself. Arms that are not there count nothing. */
export function afterJudging(
  { arms, judged: before, rewarded: rewards }: Pick<Tally, 'arms' | 'judged' | 'rewarded'>,
  losses: Iterable<readonly [arm: Arm, loss: number | undefined]>,
): Pick<Tally, 'judged' | 'rewarded'> {
  const judged = [...before];
  const rewarded = [...rewards];
  for (const [arm, loss] of losses) {
    const at = arms.indexOf(arm);
    if (at < 0 || loss === undefined) continue;
    judged[at] += 1;
    rewarded[at] += 1 - loss;
  }
  return { judged, rewarded };
}

/** Whether feedback says something of an arm whose answer was not given: a loss of that answer does not. */
export function isJudgedApart(arm: Arm, { label, losses }: Feedback): boolean {
  return label !== '' || Object.hasOwn(losses ?? {}, arm);
}
