import type { Arm, ArmPrediction, Combination } from './policy.js';
import { sameOutput } from './sameOutput.js';

/** Rounding of a sum of weights must not turn "four of five" into less than 0.8. */
const ROUNDING = 1e-9;

/**
 * A weighted vote on labels (Clipper 5.2): the label with the most weight behind it, the one that an earlier asked arm
 * gave when they are equal. A missing prediction is replaced by the average of those that arrived (5.2.2), which adds to every
 * label in proportion to what it has: so the winner is the winner among those that arrived. In the
 * confidence nothing is replaced: it is the agreeing weight over that of all asked arms.
 *
 * @param arms, weights the voters; an asked arm that is no longer among them votes with the least weight there is.
 * @param threshold no output below this confidence.
 */
export function vote(
  asked: readonly Arm[],
  arrived: readonly ArmPrediction[],
  arms: readonly Arm[],
  weights: readonly number[],
  threshold: number,
): Combination {
  const labels: string[] = [];
  const behind: number[] = [];
  let total = 0;
  for (const arm of asked) {
    const voter = arms.indexOf(arm);
    const weight = voter < 0 ? least(weights) : weights[voter];
    total += weight;
    const prediction = answerOf(arm, arrived);
    if (prediction === undefined) continue;
    const { output } = prediction;
    let label = 0;
    while (label < labels.length && !sameOutput(labels[label], output)) label += 1;
    if (label < labels.length) {
      behind[label] += weight;
    } else {
      labels.push(output);
      behind.push(weight);
    }
  }
  let winner = -1;
  for (let label = 0; label < labels.length; label++) {
    if (winner < 0 || behind[label] > behind[winner] + ROUNDING * total) winner = label;
  }
  if (winner < 0) return { output: undefined, confidence: 0 };
  const share = behind[winner] / total;
  const confidence = share > 1 - ROUNDING ? 1 : share;
  if (confidence < threshold - ROUNDING) return { output: undefined, confidence };
  return { output: labels[winner], confidence };
}

/** What an arm answered, undefined when it did not. */
export function answerOf(arm: Arm, arrived: readonly ArmPrediction[]): ArmPrediction | undefined {
  for (const prediction of arrived) if (prediction.arm === arm) return prediction;
  return undefined;
}

/** Weights as shares of their sum. */
export function voteShares(arms: readonly Arm[], weights: readonly number[]): Map<Arm, number> {
  let total = 0;
  for (const weight of weights) total += weight;
  return new Map(arms.map((arm, at) => [arm, weights[at] / total]));
}

function least(weights: readonly number[]): number {
  let smallest = Infinity;
  for (const weight of weights) if (weight < smallest) smallest = weight;
  return smallest === Infinity ? 1 : smallest;
}
