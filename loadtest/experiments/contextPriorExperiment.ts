import { KeyedDraw, policyNamed, type Draw, type Features, type Json } from '../../selection/index.js';

export const ARMS = ['one', 'two', 'three', 'four', 'five'];
/** How often models err for the average user. */
const BASES = [0.45, 0.4, 0.35, 0.3, 0.2];
/** Standard deviation of what a user differs by, model by model. */
const SPREAD = 0.08;
/** For so many users the order of models is the reverse. */
const ODD_SHARE = 0.2;
/** How far features move errors up and down, model by model, for all users alike. */
const REACH = 0.15;
export const FEATURES = ['f1', 'f2'];
/** Queries in which a user is new, and those that are counted as later ones. */
export const FIRST = 20;
const LATER_FROM = 500;
const QUERIES = 1000;
/** Users at a time. */
const COHORT = 30;
const RIGHT = { label: 'right' };

export const POLICIES: readonly (readonly [policy: string, parameters: { readonly [name: string]: Json }])[] =
  [
    ['exp3', {}],
    ['exp3s', {}],
    ['epsilonGreedy', {}],
    ['ucb1', {}],
    ['thompson', {}],
    ['linucb', { features: FEATURES }],
    ['lints', { features: FEATURES }],
    ['exp4', {}],
    ['weighted', {}],
  ];

/** Mean regrets a query: the expected error of what answers, less that of the best model for the user and query. */
export interface PriorRegret {
  readonly first: number;
  readonly later: number;
  /** Of users whose order of models is the reverse. */
  readonly oddFirst: number;
  readonly oddLater: number;
}

export interface PriorSize {
  readonly seed: number;
  /** Users from whom the application learns, before those that are counted. */
  readonly before: number;
  readonly users: number;
}

interface User {
  readonly isOdd: boolean;
  readonly errors: readonly number[];
}

/**
 * Users come in cohorts, whose 1,000 queries each are asked in turn and all judged; a user's state begins with the application's
 * prior, which learns of all of them, or with nothing where the prior is 0.
 */
export function priorRegret(
  name: string,
  parameters: { readonly [name: string]: Json },
  { seed, before, users }: PriorSize,
): PriorRegret {
  const policy = policyNamed(name);
  const draw = new KeyedDraw(seed);
  const all = Array.from({ length: before + users }, (_, at) => userOf(draw.of(`user ${at}`)));
  const regrets = all.map(() => ({ first: 0, later: 0 }));
  let own = policy.init(ARMS, parameters);
  for (let from = 0; from < all.length; from += COHORT) {
    const cohort = all.slice(from, from + COHORT);
    const states: Json[] = [];
    for (let turn = 0; turn < QUERIES; turn++) {
      for (const [at, { errors: ofUser }] of cohort.entries()) {
        const state = states[at] ?? policy.prior?.(own) ?? policy.init(ARMS, parameters);
        const key = `${from + at} ${turn}`;
        const features = featuresOf(draw.of(`features ${key}`));
        const query = { context: `${from + at}`, features };
        const errors = ofUser.map((error, arm) => errorOf(error, arm, features));
        const selection = policy.select(state, draw.of(`select ${key}`), query);
        const wrong = draw.of(`wrong ${key}`);
        const outputs = errors.map((error) => (wrong() < error ? `${Math.floor(wrong() * 9)}` : 'right'));
        const predictions = selection.arms.map((arm) => ({ arm, output: outputs[ARMS.indexOf(arm)] }));
        const { output } = policy.combine(state, selection.arms, predictions, query);
        const isOne = selection.arms.length === 1;
        const lost = isOne ? errors[ARMS.indexOf(selection.arms[0])] : Number(output !== 'right');
        const regret = lost - Math.min(...errors);
        if (turn < FIRST) regrets[from + at].first += regret / FIRST;
        if (turn >= LATER_FROM) regrets[from + at].later += regret / (QUERIES - LATER_FROM);
        states[at] = policy.observe(state, selection, predictions, RIGHT, query);
        if (parameters.prior === 0) continue;
        own = policy.observe(own, selection, predictions, RIGHT, query);
      }
    }
  }
  const counted = regrets.map((regret, at) => ({ ...regret, ...all[at] })).slice(before);
  const odd = counted.filter(({ isOdd }) => isOdd);
  const mean = (of: typeof counted, when: 'first' | 'later') =>
    of.reduce((sum, one) => sum + one[when], 0) / of.length;
  return {
    first: mean(counted, 'first'),
    later: mean(counted, 'later'),
    oddFirst: mean(odd, 'first'),
    oddLater: mean(odd, 'later'),
  };
}

function userOf(draw: Draw): User {
  const isOdd = draw() < ODD_SHARE;
  const bases = isOdd ? [...BASES].reverse() : BASES;
  return { isOdd, errors: bases.map((base) => base + SPREAD * Math.sqrt(12) * (draw() - 0.5)) };
}

function featuresOf(draw: Draw): Features {
  return Object.fromEntries(FEATURES.map((name) => [name, 2 * draw() - 1]));
}

function errorOf(error: number, arm: number, features: Features): number {
  const moved = FEATURES.reduce((sum, name, at) => sum + features[name] * Math.cos(2 * arm + 3 * at), 0);
  return Math.min(0.95, Math.max(0.02, error + (REACH / FEATURES.length) * moved));
}

export interface ComparedPriors {
  readonly policy: string;
  /** Means over the seeds. */
  readonly without: PriorRegret;
  readonly withPrior: PriorRegret;
  /** Half widths of 95 % intervals of the differences. */
  readonly firstReach: number;
  readonly laterReach: number;
}

/** The prior of a policy's defaults, and none, for the same users and queries. */
export function comparedPriors(
  policy: string,
  parameters: { readonly [name: string]: Json },
  { seeds, seed, ...size }: PriorSize & { readonly seeds: number },
): ComparedPriors {
  const pairs = Array.from({ length: seeds }, (_, at) => {
    const one = { ...size, seed: seed + at };
    return [
      priorRegret(policy, { ...parameters, prior: 0 }, one),
      priorRegret(policy, parameters, one),
    ] as const;
  });
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const meanOf = (which: 0 | 1): PriorRegret => ({
    first: mean(pairs.map((pair) => pair[which].first)),
    later: mean(pairs.map((pair) => pair[which].later)),
    oddFirst: mean(pairs.map((pair) => pair[which].oddFirst)),
    oddLater: mean(pairs.map((pair) => pair[which].oddLater)),
  });
  const reach = (when: 'first' | 'later') => {
    const differences = pairs.map(([without, withPrior]) => withPrior[when] - without[when]);
    const middle = mean(differences);
    const variance = differences.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (seeds - 1);
    return 1.96 * Math.sqrt(variance / seeds);
  };
  return {
    policy,
    without: meanOf(0),
    withPrior: meanOf(1),
    firstReach: reach('first'),
    laterReach: reach('later'),
  };
}
