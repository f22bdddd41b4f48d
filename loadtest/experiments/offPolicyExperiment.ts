import {
  EvaluationError,
  evaluatePolicy,
  KeyedDraw,
  policyNamed,
  type Draw,
  type EstimatorName,
  type Features,
  type Json,
  type LoggedFeedback,
  type SelectionPolicy,
} from '../../selection/index.js';

export const ARMS = ['one', 'two', 'three', 'four'];
export const FEATURES = ['f1', 'f2', 'f3'];
/** How often an arm errs on average, and how much of it features tell. */
const BASES = [0.25, 0.35, 0.45, 0.4];
const REACH = 0.2;
/** Queries over which true losses of policies that look at features are averaged. */
const TRUTH_QUERIES = 200_000;
const LEARNED_FROM = 2000;

export interface Logger {
  readonly name: string;
  readonly policy: string;
  readonly parameters: Json;
}

/** What is judged: a policy that stays as it is, or one that learns from the log. */
export interface Target extends Logger {
  /** It has learned from queries of its own before, and learns no more. */
  readonly isTrained?: true;
}

export const LOGGERS: readonly Logger[] = [
  { name: 'any arm', policy: 'epsilonGreedy', parameters: { epsilon: 1 } },
  { name: 'epsilonGreedy', policy: 'epsilonGreedy', parameters: { epsilon: 0.4 } },
  { name: 'exp3', policy: 'exp3', parameters: { gamma: 0.4 } },
];

export const TARGETS: readonly Target[] = [
  { name: 'static', policy: 'static', parameters: { model: 'two' } },
  { name: 'ab', policy: 'ab', parameters: { split: { one: 3, two: 1, four: 1 } } },
  { name: 'linucb, trained', policy: 'linucb', parameters: { features: FEATURES }, isTrained: true },
  { name: 'exp3, learning', policy: 'exp3', parameters: {} },
  { name: 'epsilonGreedy, learning', policy: 'epsilonGreedy', parameters: {} },
];

export interface Coverage {
  readonly logger: string;
  readonly target: string;
  readonly estimator: EstimatorName;
  /** Logs that were estimated from, and those that were refused for too few effective samples. */
  readonly logs: number;
  readonly refused: number;
  /** Share of them whose interval holds the true loss. */
  readonly covered: number;
  /** Mean of the true losses, of estimates, and of half the intervals' widths. */
  readonly truth: number;
  readonly mean: number;
  readonly reach: number;
  readonly effectiveSamples: number;
}

interface WorldQuery {
  readonly features: Features;
  readonly expected: readonly number[];
}

/** Queries whose features are uniform in [-1, 1], and who errs on them how often. */
export class World {
  private readonly draw: KeyedDraw;
  private readonly weights: readonly (readonly number[])[];

  constructor(seed: number) {
    this.draw = new KeyedDraw(seed);
    this.weights = ARMS.map((arm) => {
      const next = this.draw.of(`weights ${arm}`);
      const values = FEATURES.map(() => 2 * next() - 1);
      const total = values.reduce((sum, value) => sum + Math.abs(value), 0);
      return values.map((value) => value / total);
    });
  }

  query(next: Draw): WorldQuery {
    const values = FEATURES.map(() => 2 * next() - 1);
    return {
      features: Object.fromEntries(FEATURES.map((name, at) => [name, values[at]])),
      expected: this.weights.map((own, arm) =>
        own.reduce((sum, weight, at) => sum + REACH * weight * values[at], BASES[arm]),
      ),
    };
  }

  /** What a server writes down while the policy serves and learns. */
  log({ policy: name, parameters }: Logger, queries: number, seed: number): LoggedFeedback[] {
    const policy = policyNamed(name);
    const draws = new KeyedDraw(seed);
    let state = policy.init(ARMS, parameters);
    return Array.from({ length: queries }, (_, at): LoggedFeedback => {
      const next = draws.of(`${at}`);
      const { features, expected } = this.query(next);
      const query = { context: '', features };
      const selection = policy.select(state, next, query);
      const [arm] = selection.arms;
      const loss = next() < expected[ARMS.indexOf(arm)] ? 1 : 0;
      state = policy.observe(state, selection, [], { label: '', loss }, query);
      return {
        application: 'world',
        policy: name,
        context: '',
        features,
        linked: ARMS,
        propensity: selection.propensity,
        losses: { [arm]: loss },
      };
    });
  }

  /** What a policy has learned from queries of its own. */
  trained({ policy: name, parameters }: Logger, seed: number): Json {
    const policy = policyNamed(name);
    const draws = new KeyedDraw(seed);
    let state = policy.init(ARMS, parameters);
    for (let at = 0; at < LEARNED_FROM; at++) {
      const next = draws.of(`training ${at}`);
      const { features, expected } = this.query(next);
      const query = { context: '', features };
      const selection = policy.select(state, next, query);
      const loss = next() < expected[ARMS.indexOf(selection.arms[0])] ? 1 : 0;
      state = policy.observe(state, selection, [], { label: '', loss }, query);
    }
    return state;
  }

  /** The mean loss of a policy whose state stays as it is. */
  trueLoss(policy: SelectionPolicy, state: Json, seed: number): number {
    const draws = new KeyedDraw(seed);
    let total = 0;
    for (let at = 0; at < TRUTH_QUERIES; at++) {
      const next = draws.of(`truth ${at}`);
      const { features, expected } = this.query(next);
      const [arm] = policy.select(state, next, { context: '', features }).arms;
      total += expected[ARMS.indexOf(arm)];
    }
    return total / TRUTH_QUERIES;
  }
}

/** How often the intervals of a policy's estimates hold its true loss, over logs of one who served. */
export function coverageOf(
  logger: Logger,
  target: Target,
  { seed, logs, queries }: { readonly seed: number; readonly logs: number; readonly queries: number },
): Coverage[] {
  const world = new World(seed);
  const policy = policyNamed(target.policy);
  const state = target.isTrained === true ? world.trained(target, seed) : undefined;
  const isLearning = target.name.endsWith('learning');
  const fixedTruth = isLearning
    ? NaN
    : fixedLoss(world, policy, state ?? policy.init(ARMS, target.parameters), seed);
  const sums = new Map<
    EstimatorName,
    { covered: number; truth: number; mean: number; reach: number; effective: number }
  >();
  let refused = 0;
  for (let at = 0; at < logs; at++) {
    const log = world.log(logger, queries, seed + 1 + at);
    const watched = new WatchedPolicy(policy);
    const request = { policy: watched.policy, parameters: target.parameters, state, seed: seed + 1 + at };
    let found;
    try {
      found = evaluatePolicy(log, request);
    } catch (error) {
      if (!(error instanceof EvaluationError) || error.fault !== 'few_effective_samples') throw error;
      refused += 1;
      continue;
    }
    // Of one that learns what it had to expect to lose at each moment of this very run.
    const truth = isLearning ? watched.expectedLoss() : fixedTruth;
    for (const [name, { mean, low, high }] of Object.entries(found.estimates)) {
      const sum = sums.get(name as EstimatorName) ?? {
        covered: 0,
        truth: 0,
        mean: 0,
        reach: 0,
        effective: 0,
      };
      sum.covered += truth >= low && truth <= high ? 1 : 0;
      sum.truth += truth;
      sum.mean += mean;
      sum.reach += (high - low) / 2;
      sum.effective += found.effectiveSamples;
      sums.set(name as EstimatorName, sum);
    }
  }
  const taken = logs - refused;
  return [...sums].map(([estimator, { covered, truth, mean, reach, effective }]) => ({
    logger: logger.name,
    target: target.name,
    estimator,
    logs: taken,
    refused,
    covered: covered / taken,
    truth: truth / taken,
    mean: mean / taken,
    reach: reach / taken,
    effectiveSamples: effective / taken,
  }));
}

/** Features have mean 0, so that an arm's mean loss is its base: exact for policies that do not look at them. */
function fixedLoss(world: World, policy: SelectionPolicy, state: Json, seed: number): number {
  return policy.featureFault === undefined ? meanLoss(policy, state) : world.trueLoss(policy, state, seed);
}

function meanLoss(policy: SelectionPolicy, state: Json): number {
  let total = 0;
  for (const [arm, share] of policy.shares(state)) total += share * BASES[ARMS.indexOf(arm)];
  return total;
}

/** A policy, and what it had to expect to lose whenever it learned. */
class WatchedPolicy {
  readonly policy: SelectionPolicy;
  private readonly expected: number[] = [];

  constructor(policy: SelectionPolicy) {
    this.policy = {
      ...policy,
      observe: (state, ...rest) => {
        this.expected.push(meanLoss(policy, state));
        return policy.observe(state, ...rest);
      },
    };
  }

  expectedLoss(): number {
    return this.expected.reduce((sum, loss) => sum + loss, 0) / this.expected.length;
  }
}
