import type { Json } from '../policy.js';
import { finite, isRecord } from '../stateShape.js';
import {
  gathered,
  isEvidence,
  NO_EVIDENCE,
  opposite,
  strength,
  type Evidence,
  type Observation,
} from './evidence.js';

/** What is known of one guard rail: of losses, of slow answers, or of errors. */
export type Rail = {
  /** That the candidate is worse, by all that was seen, and by what was seen since its share is what it is. */
  readonly worse: Evidence;
  readonly worseNow: Evidence;
  /** That it is not worse by the margin. */
  readonly sound: Evidence;
  /** How much each was seen to lose. */
  readonly candidate: Seen;
  readonly incumbent: Seen;
};

export type Seen = { readonly count: number; readonly sum: number };

/** Of the chance to withdraw a candidate that is as good: the part that all that was seen has, the rest is shared by the steps. */
const WHOLE_PART = 0.9;

const NOTHING: Seen = { count: 0, sum: 0 };

export const NEW_RAIL: Rail = {
  worse: NO_EVIDENCE,
  worseNow: NO_EVIDENCE,
  sound: NO_EVIDENCE,
  candidate: NOTHING,
  incumbent: NOTHING,
};

/** After both were seen on the same query. */
export function afterPair(rail: Rail, candidate: number, incumbent: number, margin: number): Rail {
  const value = candidate - incumbent;
  return {
    ...weighed(rail, { value, scale: 1, least: -1, most: 1 }, margin),
    candidate: seen(rail.candidate, candidate),
    incumbent: seen(rail.incumbent, incumbent),
  };
}

/**
 * After one of them was seen, drawn with the candidate's share: what it lost, weighted by the other's share, has as its mean their
 * difference times both shares (Horvitz and Thompson 1952, scaled).
 */
export function afterOne(
  rail: Rail,
  isCandidate: boolean,
  loss: number,
  share: number,
  margin: number,
): Rail {
  const value = loss === 0 ? 0 : isCandidate ? loss * (1 - share) : -loss * share;
  const scale = share * (1 - share);
  return {
    ...weighed(rail, { value, scale, least: -share, most: 1 - share }, margin),
    candidate: isCandidate ? seen(rail.candidate, loss) : rail.candidate,
    incumbent: isCandidate ? rail.incumbent : seen(rail.incumbent, loss),
  };
}

/** The candidate has another share from now on: what may come of that is looked for anew. */
export function atNextStep(rail: Rail): Rail {
  return { ...rail, worseNow: NO_EVIDENCE };
}

/** @param risk the probability that one that is as good is withdrawn, at most */
export function isBroken({ worse, worseNow }: Rail, risk: number, steps: number): boolean {
  return (
    strength(worse) >= -Math.log(risk * WHOLE_PART) ||
    strength(worseNow) >= -Math.log((risk * (1 - WHOLE_PART)) / steps)
  );
}

/** @param risk the probability that one that is worse by the margin passes, at most */
export function isProven({ sound }: Rail, risk: number): boolean {
  return strength(sound) >= -Math.log(risk);
}

export function isRail(value: Json | undefined): value is Rail {
  return (
    value !== undefined &&
    isRecord(value) &&
    isEvidence(value.worse) &&
    isEvidence(value.worseNow) &&
    isEvidence(value.sound) &&
    isSeen(value.candidate) &&
    isSeen(value.incumbent)
  );
}

function weighed(
  rail: Rail,
  observation: Observation,
  margin: number,
): Pick<Rail, 'worse' | 'worseNow' | 'sound'> {
  return {
    worse: gathered(rail.worse, observation, margin),
    worseNow: gathered(rail.worseNow, observation, margin),
    sound: gathered(rail.sound, opposite(observation), margin, margin),
  };
}

function seen({ count, sum }: Seen, loss: number): Seen {
  return { count: count + 1, sum: sum + loss };
}

function isSeen(value: Json | undefined): boolean {
  return (
    value !== undefined && isRecord(value) && finite(value.count) && finite(value.sum) && value.count >= 0
  );
}
