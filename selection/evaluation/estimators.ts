/**
 * Estimates of the mean loss that a policy would have had, from feedback on what another one chose. Losses are in [0, 1].
 * `pi(a | x)` is the policy's probability of arm a for query x, `p` the propensity of the choice that was judged.
 */

/** One judged query under a policy. */
export interface WeightedLoss {
  /** `pi(a | x) / p` of the judged arm; of several arms judged together the sum over them. */
  readonly weight: number;
  /** Of the judged arm; of several their mean by `pi`. Any number where the weight is 0. */
  readonly loss: number;
  /** What a model of losses says of the same arm, or arms: their mean by `pi`. */
  readonly modelled: number;
  /** What it says of the policy's choice: the sum over all arms of `pi(a | x) q(x, a)`. */
  readonly expected: number;
  /** Queries of one number were not drawn independently, since one draw has decided for all of them. */
  readonly cluster: number;
}

export interface Estimate {
  readonly mean: number;
  /** Ends of the 95 % interval, within [0, 1]. */
  readonly low: number;
  readonly high: number;
  readonly standardError: number;
}

/** Two-sided 95 % of the normal distribution. */
const Z_95 = 1.959963984540054;

/** Inverse propensity scoring (Horvitz and Thompson 1952): the mean of `weight * loss`. Unbiased where `p` is true and above 0. */
export function inversePropensity(rows: readonly WeightedLoss[]): Estimate {
  return meanOf(rows, ({ weight, loss }) => weight * loss);
}

/**
 * Inverse propensity with weights of at most `most` (truncated importance sampling, Ionides 2008). What is cut off is between
 * nothing and all of it, so that the interval reaches as far up as if each loss that was cut off had been 1 (Bottou et al. 2013,
 * section 4.4, bound a clipped estimate in the same way): it covers at least 95 %.
 */
export function clippedInversePropensity(rows: readonly WeightedLoss[], most: number): Estimate {
  const clipped = meanOf(rows, ({ weight, loss }) => Math.min(weight, most) * loss);
  const above = meanOf(
    rows,
    ({ weight, loss }) => Math.min(weight, most) * loss + Math.max(0, weight - most),
  );
  return { ...clipped, high: above.high };
}

/**
 * Self-normalised inverse propensity (Hajek 1971; Swaminathan and Joachims 2015): the mean of losses by their weights. Its bias
 * falls as 1 / n, its interval is that of a ratio, by the delta method.
 */
export function selfNormalised(rows: readonly WeightedLoss[]): Estimate {
  let weights = 0;
  let losses = 0;
  for (const { weight, loss } of rows) {
    weights += weight;
    losses += weight * loss;
  }
  if (!(weights > 0)) return { mean: NaN, low: 0, high: 1, standardError: NaN };
  const mean = losses / weights;
  const meanWeight = weights / rows.length;
  const { standardError } = meanOf(rows, ({ weight, loss }) => (weight * (loss - mean)) / meanWeight);
  return around(mean, standardError);
}

/**
 * Doubly robust (Dudik, Langford and Li 2011, equation 2): what a model of losses expects, corrected by inverse propensity where
 * feedback tells. Unbiased if propensities are true, whatever the model; the better the model, the shorter the interval. The model
 * must not have seen the query that it corrects (`crossFittedLosses`).
 */
export function doublyRobust(rows: readonly WeightedLoss[]): Estimate {
  return meanOf(rows, ({ weight, loss, modelled, expected }) => expected + weight * (loss - modelled));
}

/** Kong's effective sample size (1992), `(sum w)^2 / sum w^2`, of clusters. */
export function effectiveSamples(rows: readonly WeightedLoss[]): number {
  const sums = new Map<number, number>();
  for (const { cluster, weight } of rows) sums.set(cluster, (sums.get(cluster) ?? 0) + weight);
  let sum = 0;
  let squares = 0;
  for (const weight of sums.values()) {
    sum += weight;
    squares += weight * weight;
  }
  return squares === 0 ? 0 : (sum * sum) / squares;
}

/** Its mean, with the standard error of clusters (Liang and Zeger 1986); each row its own, that is the usual one. */
export function meanOf(rows: readonly WeightedLoss[], score: (row: WeightedLoss) => number): Estimate {
  const count = rows.length;
  let sum = 0;
  for (const row of rows) sum += score(row);
  const mean = sum / count;
  const deviations = new Map<number, number>();
  for (const row of rows) {
    deviations.set(row.cluster, (deviations.get(row.cluster) ?? 0) + score(row) - mean);
  }
  let squares = 0;
  for (const deviation of deviations.values()) squares += deviation * deviation;
  const clusters = deviations.size;
  return around(mean, Math.sqrt((squares * clusters) / Math.max(1, clusters - 1)) / count);
}

function around(mean: number, standardError: number): Estimate {
  const reach = Z_95 * standardError;
  return { mean, standardError, low: within(mean - reach), high: within(mean + reach) };
}

function within(value: number): number {
  return Math.min(1, Math.max(0, value));
}
