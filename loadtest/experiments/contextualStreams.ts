import { KeyedDraw, linucbPolicy, type Features } from '../../selection/index.js';

/** Queries with features, and what each arm would have cost, fixed before anybody plays. */
export interface ContextualStream {
  readonly arms: readonly string[];
  readonly steps: number;
  readonly features: readonly Features[];
  /** Row by row: the expected losses of step t begin at t * arms.length. */
  readonly expected: Float64Array;
  /** The losses themselves, 0 or 1. */
  readonly losses: Uint8Array;
  /** Of each step: the arm of the best linear policy. */
  readonly best: Uint8Array;
}

export const FEATURE_NAMES = ['f1', 'f2', 'f3', 'f4'];
const ARMS = ['one', 'two', 'three', 'four', 'five'];
/** An arm errs with probability 0.5 less this much of the cosine of features and weights. */
const REACH = 0.4;

/** Each arm has weights of its own, drawn by the seed: who is best depends on the query. */
export function stochasticContexts(seed: number, steps: number): ContextualStream {
  return drawn(seed, steps, 1);
}

/** As the stochastic stream, but in each of five segments of equal length the arms have each other's weights. */
export function driftingContexts(seed: number, steps: number): ContextualStream {
  return drawn(seed, steps, ARMS.length);
}

/** As the stochastic stream, but the arm that LinUCB asks next errs: its next choice is known, for it does not draw. */
export function adversarialContexts(seed: number, steps: number): ContextualStream {
  const stream = drawn(seed, steps, 1);
  let state = linucbPolicy.init(ARMS, { features: FEATURE_NAMES, forgetting: 1 });
  for (const [step, features] of stream.features.entries()) {
    const query = { context: '', features };
    const selection = linucbPolicy.select(state, () => 0, query);
    const at = step * ARMS.length + ARMS.indexOf(selection.arms[0]);
    stream.losses[at] = 1;
    stream.expected[at] = 1;
    state = linucbPolicy.observe(state, selection, [], { label: '', loss: 1 }, query);
  }
  return stream;
}

/**
 * As hard as it can be made for so many queries: one of the features is 1 and the others are 0, and for each of them one arm errs less often
 * than the others, by so little that so many queries hardly tell: sqrt(arms * features / steps).
 */
export function hardContexts(seed: number, steps: number): ContextualStream {
  const gap = Math.sqrt((ARMS.length * FEATURE_NAMES.length) / steps);
  const draw = new KeyedDraw(seed);
  const best = FEATURE_NAMES.map((name) => Math.floor(draw.of(`best ${name}`)() * ARMS.length));
  return filled(seed, steps, (next) => {
    const which = Math.floor(next() * FEATURE_NAMES.length);
    return {
      values: FEATURE_NAMES.map((_, at) => (at === which ? 1 : 0)),
      errors: () => ARMS.map((_, arm) => 0.5 - (arm === best[which] ? gap : 0)),
    };
  });
}

function drawn(seed: number, steps: number, segments: number): ContextualStream {
  const draw = new KeyedDraw(seed);
  const weights = ARMS.map((arm) => direction(draw.of(`weights ${arm}`)));
  return filled(seed, steps, (next) => {
    const values = direction(next);
    return {
      values,
      errors: (step) => {
        const shift = 2 * Math.floor((step * segments) / steps);
        return ARMS.map((_, arm) => {
          const own = weights[(arm + shift) % ARMS.length];
          return 0.5 - REACH * values.reduce((sum, value, at) => sum + value * own[at], 0);
        });
      },
    };
  });
}

function filled(
  seed: number,
  steps: number,
  query: (next: () => number) => {
    readonly values: readonly number[];
    readonly errors: (step: number) => number[];
  },
): ContextualStream {
  const draw = new KeyedDraw(seed);
  const features: Features[] = [];
  const expected = new Float64Array(steps * ARMS.length);
  const losses = new Uint8Array(steps * ARMS.length);
  const best = new Uint8Array(steps);
  for (let step = 0; step < steps; step++) {
    const next = draw.of(`step ${step}`);
    const { values, errors } = query(next);
    features.push(Object.fromEntries(FEATURE_NAMES.map((name, at) => [name, values[at]])));
    const all = errors(step);
    for (const [arm, error] of all.entries()) {
      expected[step * ARMS.length + arm] = error;
      losses[step * ARMS.length + arm] = next() < error ? 1 : 0;
      if (error < all[best[step]]) best[step] = arm;
    }
  }
  return { arms: ARMS, steps, features, expected, losses, best };
}

/** Uniform on the sphere. */
function direction(next: () => number): number[] {
  const normal = FEATURE_NAMES.map(
    () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
  );
  const length = Math.hypot(...normal);
  return normal.map((value) => value / length);
}
