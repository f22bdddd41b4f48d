import { expect, it } from 'vitest';
import { growthOf, playContexts } from './contextualRegretExperiment.js';
import {
  FEATURE_NAMES,
  adversarialContexts,
  driftingContexts,
  hardContexts,
  stochasticContexts,
} from './contextualStreams.js';
import { SEEDS } from './regretExperiment.js';

const LINUCB = { name: 'linucb', policy: 'linucb', parameters: { features: FEATURE_NAMES, forgetting: 1 } };
const THOMPSON = { name: 'thompson', policy: 'thompson', parameters: {} };

it('knows the best arm of every query, which is another one for others', () => {
  const { arms, steps, expected, best, losses } = stochasticContexts(1, 4000);
  const counts = arms.map(() => 0);
  for (let step = 0; step < steps; step++) {
    const row = [...expected.subarray(step * arms.length, (step + 1) * arms.length)];
    expect(row[best[step]]).toBe(Math.min(...row));
    counts[best[step]] += 1;
  }
  expect(counts.filter((count) => count > steps / 20).length).toBeGreaterThan(2);
  const mean = losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
  expect(Math.abs(mean - 0.5)).toBeLessThan(0.05);
});

it('sees that features tell who is right, and that nothing helps against whoever knows the next choice', () => {
  const stream = stochasticContexts(2, 4000);
  const [linear, without] = [LINUCB, THOMPSON].map((one) => playContexts(stream, one, 2, [4000]));
  expect(linear.linear[0]).toBeLessThan(without.linear[0] / 2);
  expect(linear.fixed[0]).toBeLessThan(0);
  const known = playContexts(adversarialContexts(2, 4000), LINUCB, 2, [4000]);
  expect(known.linear[0]).toBeGreaterThan(1000);
});

it('deals the weights out anew in each segment of a drifting stream', () => {
  const drifting = driftingContexts(3, 1000);
  const still = stochasticContexts(3, 1000);
  const { length } = still.arms;
  expect(drifting.expected.slice(0, 200 * length)).toEqual(still.expected.slice(0, 200 * length));
  const [late, early] = [drifting, still].map(({ expected }) => [...expected.slice(-length)]);
  expect(late).not.toEqual(early);
  expect(late.sort()).toEqual(early.sort());
});

it('finds the power that regret grows with', () => {
  const horizons = [100, 400, 1600];
  const regrets = Array.from({ length: SEEDS }, (_, seed) =>
    horizons.map((queries) => (2 + seed / 100) * Math.sqrt(queries)),
  );
  const { exponent, factor } = growthOf('x', 0, horizons, regrets);
  expect(exponent.mean).toBeCloseTo(0.5, 9);
  expect(factor).toBeCloseTo(2.095, 9);
  const { expected, best, steps } = hardContexts(1, 2000);
  const gap = Math.sqrt(20 / steps);
  for (let step = 0; step < steps; step++) expect(expected[step * 5 + best[step]]).toBeCloseTo(0.5 - gap, 12);
});
