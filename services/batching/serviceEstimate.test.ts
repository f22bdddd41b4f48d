import { expect, it } from 'vitest';
import { ServiceEstimate } from './serviceEstimate.js';

const MS = 1e6;

it('finds what a batch costs and what an item adds', () => {
  const estimate = new ServiceEstimate();
  for (let at = 0; at < 40; at++) estimate.record(1 + (at % 20), 5 * MS + (1 + (at % 20)) * 0.25 * MS);
  expect(estimate.fixedNs).toBeCloseTo(5 * MS, -2);
  expect(estimate.batchNs(128)).toBeCloseTo(37 * MS, -2);
});

it('takes a larger batch for no slower while all were of one size', () => {
  const estimate = new ServiceEstimate();
  expect(estimate.known).toBe(false);
  for (let at = 0; at < 8; at++) estimate.record(1, 5 * MS);
  expect(estimate.known).toBe(true);
  expect(estimate.batchNs(64)).toBeCloseTo(5 * MS, -2);
});

it('believes one pause little, and a lasting change within tens of batches', () => {
  const estimate = new ServiceEstimate();
  for (let at = 0; at < 50; at++) estimate.record(10, MS);
  estimate.record(10, 1000 * MS);
  expect(estimate.batchNs(10)).toBeLessThan(1.2 * MS);
  for (let at = 0; at < 60; at++) estimate.record(10, 20 * MS);
  expect(estimate.batchNs(10)).toBeGreaterThan(18 * MS);
});
