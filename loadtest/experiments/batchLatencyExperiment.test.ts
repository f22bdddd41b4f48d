import { expect, it } from 'vitest';
import {
  compareStrategies,
  latencyProfile,
  leastSquares,
  SEED,
  syntheticComparisons,
} from './batchLatencyExperiment.js';

it('fits the line that points lie on', () => {
  const fit = leastSquares(
    [1, 2, 4, 64].map((batchSize) => ({ batchSize, latencyUs: 30 + 0.5 * batchSize })),
  );
  expect(fit.fixedUs).toBeCloseTo(30, 9);
  expect(fit.itemUs).toBeCloseTo(0.5, 9);
  expect(fit.r2).toBeCloseTo(1, 9);
});

it('profiles a kernel model up to its largest batch', () => {
  const { points } = latencyProfile('digits-logistic');
  expect(points.map(({ batchSize }) => batchSize)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256]);
  expect(Math.min(...points.map(({ latencyUs }) => latencyUs))).toBeGreaterThan(1);
});

it('finds both adaptive strategies near the hand-tuned size, far above no batching, and above a size of another model', () => {
  const [noop, blas, , kernel] = syntheticComparisons(SEED, 1.2, 0.6);
  const [aimd, quantile, tuned, , none] = compareStrategies(blas).results;
  for (const adaptive of [aimd, quantile]) {
    expect(adaptive.inTimePerSecond).toBeGreaterThan(0.9 * tuned.inTimePerSecond);
    expect(adaptive.gain).toBeGreaterThan(15);
    expect(adaptive.p99Ms).toBeLessThanOrEqual(20.02);
  }
  expect(none.meanBatchSize).toBe(1);
  const slow = compareStrategies(kernel).results;
  expect(slow[3].inTimePerSecond).toBeLessThan(0.95 * slow[2].inTimePerSecond);
  const instant = compareStrategies(noop).results;
  expect(instant[3].inTimePerSecond).toBeLessThan(0.85 * instant[0].inTimePerSecond);
});
