import { armsNamed } from '../parameters.js';
import type { Arm, Json, SelectionPolicy } from '../policy.js';
import {
  clippedInversePropensity,
  doublyRobust,
  effectiveSamples,
  inversePropensity,
  meanOf,
  selfNormalised,
  type Estimate,
  type WeightedLoss,
} from './estimators.js';
import { EvaluationError } from './evaluationError.js';
import { answersAlone, FixedTarget, isFixed } from './fixedTarget.js';
import type { LoggedFeedback } from './loggedFeedback.js';
import { crossFittedLosses } from './lossModel.js';
import { replay } from './replay.js';
import { Support } from './support.js';

export type EstimatorName = 'ips' | 'clipped' | 'selfNormalised' | 'doublyRobust' | 'replay';

export interface EvaluationRequest {
  readonly policy: SelectionPolicy;
  readonly parameters: Json;
  /** What it has learned, which stays as it is; undefined: nothing, and it learns from the log where it is one that learns. */
  readonly state?: Json | undefined;
  /** The models in the order of their links; those of the log's last line unless given. */
  readonly arms?: readonly Arm[] | undefined;
  /** Largest weight of the clipped estimate; the square root of the number of lines unless given (Ionides 2008). */
  readonly mostWeight?: number | undefined;
  readonly seed: number;
}

export interface PolicyEvaluation {
  readonly policy: string;
  readonly arms: readonly Arm[];
  /** Judged queries of the log. */
  readonly judged: number;
  /** Of whoever has served, with its interval: what was lost. Of lines on which several were judged their mean. */
  readonly served: Estimate;
  /**
   * `fixed`: a policy that stays as it is, judged by weights. `replay`: one that learns, judged over the first `effectiveSamples`
   * feedbacks that it would have had.
   */
  readonly kind: 'fixed' | 'replay';
  readonly estimates: Readonly<Partial<Record<EstimatorName, Estimate>>>;
  readonly effectiveSamples: number;
  /** Mean weight: 1 but for chance if the log's propensities are those of its draws; of a replay 1. */
  readonly meanWeight: Estimate | undefined;
  readonly largestWeight: number;
  /** Share of the policy's choices that the log cannot tell of: as much may each estimate err beyond its interval. */
  readonly unsupported: number;
  readonly mostWeight: number | undefined;
}

/** Fewer leave an interval from the normal distribution too short. */
export const LEAST_EFFECTIVE_SAMPLES = 50;
/** Largest share of choices without support. */
export const MOST_UNSUPPORTED = 0.01;

/**
 * The mean loss that a policy would have had, from what others' choices were judged.
 * @param log of one application
 * @throws EvaluationError naming what is missing, and what would be taken
 * @throws PolicyError for parameters or a state that are not the policy's
 */
export function evaluatePolicy(log: readonly LoggedFeedback[], request: EvaluationRequest): PolicyEvaluation {
  const { policy, seed } = request;
  checkPropensities(log);
  const arms = request.arms ?? armsOf(log);
  if (!answersAlone(policy, arms)) {
    throw new EvaluationError(
      'several_answers',
      `'${policy.name}' makes its answer of several models', and the log has the losses of single ones: evaluate a policy that asks one, or serve it beside another`,
    );
  }
  const state = startOf(request, arms);
  checkFeatures(policy.name, log, state);
  const support = new Support(log);
  const clusters = clustersOf(log);
  const common = { policy: policy.name, arms, judged: log.length, served: servedLoss(log, clusters) };
  if (request.state === undefined && !isFixed(policy)) {
    const { estimate, accepted, unsupported } = replay(policy, state, log, support, seed);
    checkSupport(policy.name, unsupported);
    if (accepted < LEAST_EFFECTIVE_SAMPLES) {
      throw new EvaluationError(
        'few_effective_samples',
        `'${policy.name}' would have made ${accepted} of the log's ${log.length} choices, as its smallest propensity, ${support.smallest}, lets them be accepted; it takes ${LEAST_EFFECTIVE_SAMPLES}: a longer log, or one that tries all models more evenly`,
      );
    }
    return {
      ...common,
      kind: 'replay',
      estimates: { replay: estimate },
      effectiveSamples: accepted,
      meanWeight: undefined,
      largestWeight: 1,
      unsupported,
      mostWeight: undefined,
    };
  }
  const { rows, unsupported } = weighted(log, arms, clusters, support, new FixedTarget(policy, state, seed));
  checkSupport(policy.name, unsupported);
  const effective = effectiveSamples(rows);
  if (effective < LEAST_EFFECTIVE_SAMPLES) {
    throw new EvaluationError(
      'few_effective_samples',
      `the log's ${log.length} judged queries are worth ${effective.toFixed(1)} of the policy's own, and it takes ${LEAST_EFFECTIVE_SAMPLES}: a longer log, or one that asks the policy's models more often`,
    );
  }
  const mostWeight = request.mostWeight ?? Math.sqrt(log.length);
  return {
    ...common,
    kind: 'fixed',
    estimates: {
      ips: inversePropensity(rows),
      clipped: clippedInversePropensity(rows, mostWeight),
      selfNormalised: selfNormalised(rows),
      doublyRobust: doublyRobust(rows),
    },
    effectiveSamples: effective,
    meanWeight: unbounded(meanOf(rows, ({ weight }) => weight)),
    largestWeight: rows.reduce((most, { weight }) => Math.max(most, weight), 0),
    unsupported,
    mostWeight,
  };
}

function checkPropensities(log: readonly LoggedFeedback[]): void {
  if (log.length === 0) throw new EvaluationError('few_effective_samples', 'the log has no judged query');
  const without = log.filter(({ propensity }) => propensity === undefined);
  if (without.length === 0) return;
  const policies = [...new Set(without.map(({ policy }) => policy))].filter((name) => name !== '').join(', ');
  const whose = policies === '' ? '' : ` (policy ${policies})`;
  throw new EvaluationError(
    'no_propensities',
    `${without.length} of ${log.length} judged queries${whose} do not say with which probability their model was asked: record while exp3, exp3s, epsilonGreedy or ab serves`,
  );
}

/** In the order of their links, those that are no longer linked after them. */
function armsOf(log: readonly LoggedFeedback[]): readonly Arm[] {
  const arms = new Set(log[log.length - 1].linked);
  for (const { losses } of log) for (const arm of Object.keys(losses)) arms.add(arm);
  return [...arms];
}

function startOf({ policy, parameters, state }: EvaluationRequest, arms: readonly Arm[]): Json {
  const fresh = policy.init(arms, parameters);
  for (const arm of armsNamed(fresh)) {
    if (arms.includes(arm)) continue;
    throw new EvaluationError(
      'unknown_arm',
      `the policy's parameters name model '${arm}', of which the log has nothing: it has ${arms.join(', ')}`,
    );
  }
  if (state === undefined) return fresh;
  const restored = policy.restore(state);
  const known = new Set(policy.shares(restored).keys());
  const strangers = [
    ...arms.filter((arm) => !known.has(arm)),
    ...[...known].filter((arm) => !arms.includes(arm)),
  ];
  if (strangers.length > 0) {
    throw new EvaluationError(
      'unknown_arm',
      `the state is of ${[...known].join(', ') || 'no models'}, and the log of ${arms.join(', ')}: give the state of the same models, or name them with --arms`,
    );
  }
  return restored;
}

/** A name that is misspelt would count as 0 on every line. */
function checkFeatures(policy: string, log: readonly LoggedFeedback[], state: Json): void {
  const { features: names = [] } = (state ?? {}) as { readonly features?: readonly string[] };
  for (const name of names) {
    if (log.some(({ features }) => features !== undefined && Object.hasOwn(features, name))) continue;
    const found = new Set(log.slice(0, 1000).flatMap(({ features = {} }) => Object.keys(features)));
    throw new EvaluationError(
      'unknown_feature',
      `'${policy}' looks at feature '${name}', which no query of the log brings: they bring ${[...found].join(', ') || 'none'}`,
    );
  }
}

/** All queries of one context share one draw where an A/B test has dealt them. */
function clustersOf(log: readonly LoggedFeedback[]): readonly number[] {
  const known = new Map<string, number>();
  let next = 0;
  return log.map(({ policy, context }) => {
    if (policy !== 'ab' || context === '') return next++;
    let cluster = known.get(context);
    if (cluster === undefined) known.set(context, (cluster = next++));
    return cluster;
  });
}

function servedLoss(log: readonly LoggedFeedback[], clusters: readonly number[]): Estimate {
  const rows = log.map(({ losses }, line): WeightedLoss => {
    const judged = Object.values(losses);
    const loss = judged.reduce((sum, one) => sum + one, 0) / judged.length;
    return { weight: 1, loss, modelled: 0, expected: 0, cluster: clusters[line] };
  });
  return meanOf(rows, ({ loss }) => loss);
}

function weighted(
  log: readonly LoggedFeedback[],
  arms: readonly Arm[],
  clusters: readonly number[],
  support: Support,
  target: FixedTarget,
): { readonly rows: readonly WeightedLoss[]; readonly unsupported: number } {
  const model = crossFittedLosses(log, arms, clusters);
  const places = new Map(arms.map((arm, at) => [arm, at]));
  let unsupported = 0;
  const rows = log.map(({ context, features, losses, propensity = 1 }, line): WeightedLoss => {
    let [mass, loss, modelled, expected, total] = [0, 0, 0, 0, 0];
    for (const [arm, share] of target.of({ context, features }, `query ${line}`)) {
      total += share;
      if (!support.has(line, arm)) unsupported += share;
      const at = places.get(arm);
      const modelledLoss = at === undefined ? 0.5 : model(line, at);
      expected += share * modelledLoss;
      if (!Object.hasOwn(losses, arm)) continue;
      mass += share;
      loss += share * losses[arm];
      modelled += share * modelledLoss;
    }
    unsupported += 1 - Math.min(1, total);
    const cluster = clusters[line];
    if (mass === 0) return { weight: 0, loss: 0, modelled: 0, expected, cluster };
    return { weight: mass / propensity, loss: loss / mass, modelled: modelled / mass, expected, cluster };
  });
  return { rows, unsupported: unsupported / log.length };
}

function checkSupport(policy: string, unsupported: number): void {
  if (unsupported <= MOST_UNSUPPORTED) return;
  throw new EvaluationError(
    'no_support',
    `${(unsupported * 100).toFixed(1)} % of what '${policy}' would have chosen has no support in the log: it was never tried there; up to ${MOST_UNSUPPORTED * 100} % is taken. Record while a policy serves that draws among these models`,
  );
}

/** Weights may be above 1: the interval is not cut there. */
function unbounded(estimate: Estimate): Estimate {
  const reach = 1.959963984540054 * estimate.standardError;
  return { ...estimate, low: estimate.mean - reach, high: estimate.mean + reach };
}
