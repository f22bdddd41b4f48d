/** Beyond these odds nobody tells confidences apart. */
export const MOST_ODDS = 20;

/**
 * How sure a model is of its answer: ln(p / (1 - p)) of its highest class, from -20 to 20. Scores that add up to one are
 * probabilities, others are taken for logits (softmax). A model without scores says nothing: -20.
 */
export function logOdds(scores: Float32Array | undefined): number {
  if (scores === undefined || scores.length < 2) return -MOST_ODDS;
  let best = 0;
  let sum = 0;
  let areShares = true;
  for (let at = 0; at < scores.length; at++) {
    const score = scores[at];
    if (Number.isNaN(score)) return -MOST_ODDS;
    if (score > scores[best]) best = at;
    if (score < 0 || score > 1) areShares = false;
    sum += score;
  }
  if (areShares && Math.abs(sum - 1) < 1e-3) {
    const rest = sum - scores[best];
    return clamped(rest <= 0 ? MOST_ODDS : Math.log(scores[best] / rest));
  }
  let others = 0;
  for (let at = 0; at < scores.length; at++) if (at !== best) others += Math.exp(scores[at] - scores[best]);
  return clamped(-Math.log(others));
}

export function oddsOf(probability: number): number {
  return clamped(Math.log(probability / (1 - probability)));
}

export function probabilityOf(odds: number): number {
  return 1 / (1 + Math.exp(-odds));
}

export function clamped(odds: number): number {
  return Math.max(-MOST_ODDS, Math.min(MOST_ODDS, odds));
}
