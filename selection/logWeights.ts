import type { Arm, Draw, Selection } from './policy.js';

/**
 * Multiplicative weights in the log domain: natural logarithms relative to the leader, who has 0. No number of losses
 * under- or overflows them, and a weight is `Math.exp` of one.
 */

/** Relative to the leader, and never below the floor, a share of the leader's weight. In place. */
export function settled(logWeights: number[], floor: number): number[] {
  const leader = highest(logWeights);
  const lowest = Math.log(floor);
  for (let at = 0; at < logWeights.length; at++) {
    const relative = logWeights[at] - leader;
    logWeights[at] = relative < lowest ? lowest : relative;
  }
  return logWeights;
}

export function weightSum(logWeights: readonly number[]): number {
  let total = 0;
  for (const value of logWeights) total += Math.exp(value);
  return total;
}

/** Weights after arms came and went. A newcomer joins with the average weight: a fair share, 1 / k. Not settled. */
export function carriedWeights(
  from: readonly Arm[],
  logWeights: readonly number[],
  to: readonly Arm[],
): number[] {
  const kept = to.map((arm) => from.indexOf(arm)).filter((at) => at >= 0);
  const total = weightSum(kept.map((at) => logWeights[at]));
  const newcomer = kept.length === 0 ? 0 : Math.log(total / kept.length);
  return to.map((arm) => {
    const at = from.indexOf(arm);
    return at < 0 ? newcomer : logWeights[at];
  });
}

/** One arm, drawn with probability `(1 - gamma) w_i / sum(w) + gamma / k`. */
export function drawnArm(
  arms: readonly Arm[],
  logWeights: readonly number[],
  gamma: number,
  draw: Draw,
): Selection {
  const count = arms.length;
  if (count === 0) return { arms: [], propensity: 1 };
  const total = weightSum(logWeights);
  let left = draw();
  for (let at = 0; at < count; at++) {
    const propensity = ((1 - gamma) * Math.exp(logWeights[at])) / total + gamma / count;
    left -= propensity;
    // The last arm takes what rounding leaves over.
    if (left < 0 || at === count - 1) return { arms: [arms[at]], propensity };
  }
  return { arms: [], propensity: 1 };
}

/** The probabilities with which `drawnArm` draws. */
export function drawShares(
  arms: readonly Arm[],
  logWeights: readonly number[],
  gamma: number,
): Map<Arm, number> {
  const total = weightSum(logWeights);
  const count = arms.length;
  return new Map(
    arms.map((arm, at) => [arm, ((1 - gamma) * Math.exp(logWeights[at])) / total + gamma / count]),
  );
}

function highest(values: readonly number[]): number {
  let most = -Infinity;
  for (const value of values) if (value > most) most = value;
  return most;
}
