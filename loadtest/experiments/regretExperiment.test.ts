import { expect, it } from 'vitest';
import { adversarialStream, driftingStream, stochasticStream, type LossStream } from './lossStreams.js';
import { exp3Bound, exp3Rate, exp3sBound, exp3sGamma, ucb1Bound } from './regretBounds.js';
import { playStream, type Contender } from './regretExperiment.js';

const QUERIES = 5000;
const EXP3: Contender = {
  name: 'exp3',
  policy: 'exp3',
  parameters: { eta: exp3Rate(5, QUERIES), gamma: 1e-12, floor: 1e-300 },
};

function meanRegret(
  make: (seed: number, steps: number) => LossStream,
  contender: Contender,
  kind: 'fixed' | 'tracking',
): number {
  const seeds = [1, 2, 3, 4];
  const regrets = seeds.map((seed) => playStream(make(seed, QUERIES), contender, seed, [QUERIES])[kind][0]);
  return regrets.reduce((sum, regret) => sum + regret, 0) / seeds.length;
}

it('keeps exp3 within its bound on every stream, and lets nobody else pass for it', () => {
  const bound = exp3Bound(5, QUERIES, exp3Rate(5, QUERIES), 0);
  expect(bound).toBeCloseTo(Math.sqrt(2 * 5 * QUERIES * Math.log(5)), 6);
  for (const make of [stochasticStream, adversarialStream, driftingStream]) {
    expect(meanRegret(make, EXP3, 'fixed')).toBeLessThan(bound);
  }
  const ucb1 = { name: 'ucb1', policy: 'ucb1', parameters: { memory: null } };
  expect(meanRegret(stochasticStream, ucb1, 'fixed')).toBeLessThan(
    ucb1Bound([0.25, 0.2, 0.15, 0.1], QUERIES),
  );
  expect(meanRegret(adversarialStream, ucb1, 'fixed')).toBeGreaterThan(4 * bound);
});

it('keeps exp3s within its bound against the best arm of each segment', () => {
  const gamma = exp3sGamma(5, QUERIES, 5);
  const exp3s = { name: 'exp3s', policy: 'exp3s', parameters: { gamma, alpha: 1 / QUERIES } };
  const regret = meanRegret(driftingStream, exp3s, 'tracking');
  expect(regret).toBeLessThan(exp3sBound(5, QUERIES, 5));
  expect(regret).toBeGreaterThan(meanRegret(driftingStream, exp3s, 'fixed'));
});

it('gives the same run twice', () => {
  const run = () => playStream(driftingStream(3, 1000), EXP3, 3, [500, 1000]);
  expect(run()).toEqual(run());
});
