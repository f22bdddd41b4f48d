import { KeyedDraw, ucb1Policy } from '../../selection/index.js';

/** Losses of every arm at every step, 0 or 1, fixed before anybody plays. */
export interface LossStream {
  readonly arms: readonly string[];
  readonly steps: number;
  /** Row by row: the losses of step t begin at t * arms.length. */
  readonly losses: Uint8Array;
  /** The expected losses from these steps on, until the next segment. */
  readonly segments: readonly LossSegment[];
}

export interface LossSegment {
  readonly from: number;
  readonly errors: readonly number[];
}

/** The spread of the model failure experiment. */
export const SPREAD = [0.45, 0.4, 0.35, 0.3, 0.2];

const ARMS = ['one', 'two', 'three', 'four', 'five'];

/** Every arm errs with its own probability throughout. */
export function stochasticStream(seed: number, steps: number): LossStream {
  return drawn(seed, steps, [{ from: 0, errors: SPREAD }]);
}

/** As the stochastic stream, but the best arm is another one in each of five segments of equal length. */
export function driftingStream(seed: number, steps: number): LossStream {
  const segments = ARMS.map((_, shift) => ({
    from: Math.floor((steps * shift) / ARMS.length),
    errors: SPREAD.map((_error, arm) => SPREAD[(arm + 2 * shift) % ARMS.length]),
  }));
  return drawn(seed, steps, segments);
}

/**
 * As the stochastic stream, but the arm that UCB1 asks next errs, whatever it would have done: an adversary who knows
 * the policy knows the next choice of one that does not draw.
 */
export function adversarialStream(seed: number, steps: number): LossStream {
  const stream = stochasticStream(seed, steps);
  let state = ucb1Policy.init(ARMS, { memory: null });
  for (let step = 0; step < steps; step++) {
    const selection = ucb1Policy.select(state, () => 0);
    stream.losses[step * ARMS.length + ARMS.indexOf(selection.arms[0])] = 1;
    state = ucb1Policy.observe(state, selection, [], { label: '', loss: 1 });
  }
  return stream;
}

function drawn(seed: number, steps: number, segments: readonly LossSegment[]): LossStream {
  const draw = new KeyedDraw(seed);
  const losses = new Uint8Array(steps * ARMS.length);
  for (const [at, { from, errors }] of segments.entries()) {
    const until = segments.at(at + 1)?.from ?? steps;
    for (let step = from; step < until; step++) {
      const next = draw.of(`step ${step}`);
      for (let arm = 0; arm < ARMS.length; arm++) {
        losses[step * ARMS.length + arm] = next() < errors[arm] ? 1 : 0;
      }
    }
  }
  return { arms: ARMS, steps, losses, segments };
}
