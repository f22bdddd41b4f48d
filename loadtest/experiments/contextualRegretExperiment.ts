import { KeyedDraw, policyNamed } from '../../selection/index.js';
import type { ContextualStream } from './contextualStreams.js';
import { intervalOf, type Contender, type Interval } from './regretExperiment.js';

/** Expected losses of one run beyond those of others, at each checkpoint. */
export interface ContextualRun {
  /** Beyond the arm that was best over all queries so far. */
  readonly fixed: readonly number[];
  /** Beyond the linear policy that knows every arm's weights, at each moment. */
  readonly linear: readonly number[];
}

export interface ContextualResult {
  readonly name: string;
  readonly parameters: unknown;
  readonly color: number;
  readonly isDefault: boolean;
  readonly fixed: Interval;
  readonly linear: Interval;
  readonly curve: readonly (Interval & { readonly queries: number })[];
}

/** Regret over horizons, and the power of the horizon that it grows with: least squares of logarithms, seed by seed. */
export interface Growth {
  readonly name: string;
  readonly color: number;
  readonly exponent: Interval;
  /** Of regret = factor * sqrt(queries). */
  readonly factor: number;
  readonly points: readonly (Interval & { readonly queries: number })[];
}

export interface ContextualSummary {
  readonly seeds: number;
  readonly queries: number;
  readonly streams: readonly { readonly stream: string; readonly contenders: readonly ContextualResult[] }[];
  readonly growth: readonly Growth[];
}

/** Plays a policy against a stream; feedback follows each query at once. */
export function playContexts(
  stream: ContextualStream,
  contender: Contender,
  seed: number,
  checkpoints: readonly number[],
): ContextualRun {
  const { arms, steps, expected, losses, features, best } = stream;
  const policy = policyNamed(contender.policy);
  const draw = new KeyedDraw(seed);
  let state = policy.init(arms, contender.parameters);
  const totals = arms.map(() => 0);
  let own = 0;
  let ofBest = 0;
  const fixed: number[] = [];
  const linear: number[] = [];
  for (let step = 0; step < steps; step++) {
    const row = step * arms.length;
    const query = { context: '', features: features[step] };
    const selection = policy.select(state, draw.of(`query ${step}`), query);
    const asked = row + arms.indexOf(selection.arms[0]);
    own += expected[asked];
    ofBest += expected[row + best[step]];
    for (let arm = 0; arm < arms.length; arm++) totals[arm] += expected[row + arm];
    state = policy.observe(state, selection, [], { label: '', loss: losses[asked] }, query);
    if (step + 1 === checkpoints[fixed.length]) {
      fixed.push(own - Math.min(...totals));
      linear.push(own - ofBest);
    }
  }
  return { fixed, linear };
}

/** @param regrets of each seed, at each horizon */
export function growthOf(
  name: string,
  color: number,
  horizons: readonly number[],
  regrets: readonly (readonly number[])[],
): Growth {
  const points = horizons.map((queries, at) => ({ queries, ...intervalOf(regrets.map((seed) => seed[at])) }));
  const exponents = regrets.map((seed) => slope(horizons.map(Math.log), seed.map(Math.log)));
  const factor =
    points.reduce((sum, { queries, mean }) => sum + mean * Math.sqrt(queries), 0) /
    points.reduce((sum, { queries }) => sum + queries, 0);
  return { name, color, exponent: intervalOf(exponents), factor, points };
}

/** Of the line through points, by least squares. */
export function slope(x: readonly number[], y: readonly number[]): number {
  const meanX = x.reduce((sum, value) => sum + value, 0) / x.length;
  const meanY = y.reduce((sum, value) => sum + value, 0) / y.length;
  let above = 0;
  let below = 0;
  for (const [at, value] of x.entries()) {
    above += (value - meanX) * (y[at] - meanY);
    below += (value - meanX) ** 2;
  }
  return above / below;
}
