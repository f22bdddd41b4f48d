/** Upper bounds on expected regret, as the papers that prove them state them. K arms, T queries. */

/**
 * Exp3 on losses with learning rate eta and exploration gamma, against the best arm in hindsight, whatever the stream:
 * `(1 - gamma) ln K / eta + eta K T / 2 + gamma T`. From the exponential weights' bound `ln K / eta + eta / 2 sum(q l^2)` on the estimates
 * l / p, whose second moment is at most K / (1 - gamma) (Auer et al. 2002; Bubeck and Cesa-Bianchi 2012, section 3.1).
 */
export function exp3Bound(arms: number, queries: number, eta: number, gamma: number): number {
  return ((1 - gamma) * Math.log(arms)) / eta + (eta * arms * queries) / 2 + gamma * queries;
}

/** The eta that makes the bound least without exploration: the bound is then sqrt(2 K T ln K). */
export function exp3Rate(arms: number, queries: number): number {
  return Math.sqrt((2 * Math.log(arms)) / (arms * queries));
}

/**
 * Exp3.S against any sequence of arms with at most `segments` segments (Auer et al. 2002, section 8), with its
 * gamma and alpha = 1 / T: `2 sqrt(e - 1) sqrt(K T (S ln(K T) + e))`.
 */
export function exp3sBound(arms: number, queries: number, segments: number): number {
  return 2 * Math.sqrt(Math.E - 1) * Math.sqrt(arms * queries * hardness(arms, queries, segments));
}

export function exp3sGamma(arms: number, queries: number, segments: number): number {
  return Math.min(1, Math.sqrt((arms * hardness(arms, queries, segments)) / ((Math.E - 1) * queries)));
}

function hardness(arms: number, queries: number, segments: number): number {
  return segments * Math.log(arms * queries) + Math.E;
}

/** UCB1 on a stochastic stream (Auer, Cesa-Bianchi, Fischer 2002, theorem 1). Gaps above 0, of the arms that are not best. */
export function ucb1Bound(gaps: readonly number[], queries: number): number {
  const sum = gaps.reduce((total, gap) => total + gap, 0);
  const inverses = gaps.reduce((total, gap) => total + 1 / gap, 0);
  return 8 * Math.log(queries) * inverses + (1 + Math.PI ** 2 / 3) * sum;
}

/** Thompson sampling, mean over streams drawn from its prior (Bubeck and Liu 2013): 14 sqrt(K T). */
export function thompsonBound(arms: number, queries: number): number {
  return 14 * Math.sqrt(arms * queries);
}
