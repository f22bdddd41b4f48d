import { settled } from './logWeights.js';
import { PolicyError } from './policy.js';
import type { JsonObject } from './parameters.js';
import type { Tally } from './tally.js';

/*
 * What a context begins with of what the application has learned: shrinkage in empirical Bayes' manner (Efron and Morris 1973). All
 * contexts' feedback makes an estimate of each arm, which counts in a new context's own as so many pseudo-observations, and fades
 * there as feedback does. However much the application has learned, `prior` feedbacks of the context weigh as much.
 */

/** Beyond it a context would have no feedback that counts. */
const LARGEST_PRIOR = 1e6;

/** Feedbacks that the prior of a context counts for; 0: a context begins with nothing. @throws PolicyError */
export function priorFrom(parameters: JsonObject, byDefault: number): number {
  const value = Object.hasOwn(parameters, 'prior') ? parameters.prior : undefined;
  if (value === undefined) return byDefault;
  if (typeof value === 'number' && value >= 0 && value <= LARGEST_PRIOR) return value;
  throw new PolicyError(
    'parameters.prior',
    `prior must be a number from 0 to ${LARGEST_PRIOR}, the feedbacks that a context's start counts for, not ${JSON.stringify(value)}`,
  );
}

/**
 * Mean rewards: of each arm as many observations as there are, at most `prior`, with the mean that they have. As a Beta posterior
 * this is the conjugate prior of that mean and strength.
 */
export function priorTally({ arms, judged, rewarded, memory }: Tally, prior: number): Tally {
  const share = judged.map((count) => (count > prior ? prior / count : 1));
  return {
    arms,
    judged: judged.map((count, at) => count * share[at]),
    rewarded: rewarded.map((sum, at) => sum * share[at]),
    memory,
  };
}

/**
 * Multiplicative weights: the same order with the last at most `span` behind the leader, as far as `prior` feedbacks move a
 * weight. A power of the weights, which is what the posterior of a part of the evidence is.
 */
export function priorWeights(logWeights: readonly number[], span: number, floor: number): number[] {
  let lowest = 0;
  for (const value of logWeights) lowest = Math.min(lowest, value);
  const share = -lowest > span ? span / -lowest : 1;
  return settled(
    logWeights.map((value) => value * share),
    floor,
  );
}
