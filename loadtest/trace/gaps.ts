import type { Draw } from '../../selection/index.js';

/** Seconds from one arrival to the next. Called once an arrival, with draws of its own. */
export type GapSource = (draw: Draw) => number;

/** Arrivals at equal distances. */
export function uniformGaps(perSecond: number): GapSource {
  return () => 1 / perSecond;
}

/** A Poisson process: exponential gaps. */
export function poissonGaps(perSecond: number): GapSource {
  return (draw) => exponential(draw) / perSecond;
}

/**
 * Gamma gaps with mean `1 / perSecond` and the given coefficient of variation: 1 is Poisson, 4 to 8 comes in bursts
 * (AlpaServe's axis), below 1 is more even than Poisson.
 */
export function gammaGaps(perSecond: number, variation: number): GapSource {
  const shape = 1 / variation ** 2;
  return (draw) => gamma(shape, draw) / (shape * perSecond);
}

/** Log-normal gaps with mean `1 / perSecond`; sigma 2 is Paella's load. */
export function logNormalGaps(perSecond: number, sigma: number): GapSource {
  const mu = -Math.log(perSecond) - sigma ** 2 / 2;
  return (draw) => Math.exp(mu + sigma * normal(draw));
}

/**
 * A Poisson process that alternates between two rates (Markov-modulated), each kept for an exponential time of mean
 * `staySeconds`: a rate that drifts over seconds or minutes. It begins with the first.
 */
export function switchingGaps(first: number, second: number, staySeconds: number): GapSource {
  let perSecond = first;
  let leftSeconds = NaN;
  return (draw) => {
    if (Number.isNaN(leftSeconds)) leftSeconds = staySeconds * exponential(draw);
    let passed = 0;
    for (;;) {
      const gap = perSecond === 0 ? Infinity : exponential(draw) / perSecond;
      if (gap <= leftSeconds) {
        leftSeconds -= gap;
        return passed + gap;
      }
      // No memory: what is left of the gap is drawn afresh at the other rate.
      passed += leftSeconds;
      perSecond = perSecond === first ? second : first;
      leftSeconds = staySeconds * exponential(draw);
    }
  };
}

/**
 * A Poisson process whose rate changes with time: drawn at the highest rate, and thinned (Lewis and Shedler, 1979).
 * @param rateAt at a time in seconds since the start, never above `most`; undefined: nothing comes from then on.
 */
export function varyingGaps(rateAt: (seconds: number) => number | undefined, most: number): GapSource {
  let seconds = 0;
  return (draw) => {
    const from = seconds;
    for (;;) {
      seconds += exponential(draw) / most;
      const rate = rateAt(seconds);
      if (rate === undefined) return Infinity;
      if (draw() * most < rate) return seconds - from;
    }
  };
}

function exponential(draw: Draw): number {
  return -Math.log(1 - draw());
}

function normal(draw: Draw): number {
  return Math.sqrt(2 * exponential(draw)) * Math.cos(2 * Math.PI * draw());
}

/** Marsaglia and Tsang (2000); below shape 1 a draw of shape + 1, boosted. */
function gamma(shape: number, draw: Draw): number {
  if (shape < 1) return gamma(shape + 1, draw) * (1 - draw()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normal(draw);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - draw()) < x ** 2 / 2 + d - d * v + d * Math.log(v)) return d * v;
  }
}
