import { KeyedDraw, policyNamed, type Json } from '../../selection/index.js';
import type { LossStream } from './lossStreams.js';

/** One policy with its parameters. */
export interface Contender {
  readonly name: string;
  readonly policy: string;
  readonly parameters: Json;
}

/** The regret of one run at each checkpoint. */
export interface RegretRun {
  /** Losses beyond those of the best arm in hindsight, up to there. */
  readonly fixed: readonly number[];
  /** Losses beyond those of the best arm of each segment. */
  readonly tracking: readonly number[];
}

/** A mean over seeds with the 95 % interval of the mean. */
export interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

export interface ContenderResult {
  readonly name: string;
  readonly parameters: unknown;
  readonly color: number;
  readonly isDefault: boolean;
  /** Against the best arm in hindsight, at the end. */
  readonly fixed: Interval;
  /** Against the best arm of each segment, at the end. */
  readonly tracking: Interval;
  /** Exp3's is against the best arm, Exp3.S's against the best of each segment; null where nothing is proved. */
  readonly bound: number | null;
  readonly curve: readonly (Interval & { readonly queries: number })[];
}

export interface RegretSummary {
  readonly seeds: number;
  readonly queries: number;
  readonly streams: readonly {
    readonly stream: string;
    readonly comparator: string;
    readonly contenders: readonly ContenderResult[];
  }[];
}

/** Student's t, two-sided 95 %, by degrees of freedom 19: twenty seeds. */
const T_95_OF_20 = 2.093;
export const SEEDS = 20;

/** Plays a policy against a stream; feedback follows each query at once. */
export function playStream(
  stream: LossStream,
  contender: Contender,
  seed: number,
  checkpoints: readonly number[],
): RegretRun {
  const { arms, steps, losses } = stream;
  const policy = policyNamed(contender.policy);
  const draw = new KeyedDraw(seed);
  let state = policy.init(arms, contender.parameters);
  const totals = arms.map(() => 0);
  const segmentTotals = arms.map(() => 0);
  let bestOfSegments = 0;
  let segment = 0;
  let own = 0;
  const fixed: number[] = [];
  const tracking: number[] = [];
  for (let step = 0; step < steps; step++) {
    if (step === stream.segments.at(segment + 1)?.from) {
      segment += 1;
      bestOfSegments += Math.min(...segmentTotals);
      segmentTotals.fill(0);
    }
    const selection = policy.select(state, draw.of(`query ${step}`));
    const asked = arms.indexOf(selection.arms[0]);
    const loss = losses[step * arms.length + asked];
    own += loss;
    for (let arm = 0; arm < arms.length; arm++) {
      totals[arm] += losses[step * arms.length + arm];
      segmentTotals[arm] += losses[step * arms.length + arm];
    }
    state = policy.observe(state, selection, [], { label: '', loss });
    if (step + 1 === checkpoints[fixed.length]) {
      fixed.push(own - Math.min(...totals));
      tracking.push(own - bestOfSegments - Math.min(...segmentTotals));
    }
  }
  return { fixed, tracking };
}

/** @throws RangeError for another number of values than `SEEDS`. */
export function intervalOf(values: readonly number[]): Interval {
  if (values.length !== SEEDS)
    throw new RangeError(`the interval is for ${SEEDS} values, not ${values.length}`);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  const reach = T_95_OF_20 * Math.sqrt(variance / values.length);
  return { mean, low: mean - reach, high: mean + reach };
}
