import { expect, it } from 'vitest';
import { growth } from './trend.js';

const points = (values: readonly number[]) => values.map((value, at) => ({ atSeconds: 10 * at, value }));

it('finds what grows, whatever it swings by', () => {
  expect(growth(points([1, 2, 3, 4]))).toBeCloseTo(3, 9);
  expect(growth(points([5, 7, 5, 7, 5, 7, 5]))).toBeCloseTo(0, 9);
  expect(growth(points([5, 8, 6, 9, 7, 10, 8]))).toBeGreaterThan(2);
});

it('says nothing of one sample', () => {
  expect(growth(points([4]))).toBe(0);
  expect(growth([])).toBe(0);
});
