import { describe, expect, it } from 'vitest';
import { mean, quantile } from './index.js';

describe('quantiles', () => {
  it.each([
    [[4, 1, 3, 2], 0.5, 2],
    [[5, 1, 3], 0.5, 3],
    [[10, 20, 30], 0.95, 30],
    [[10, 20, 30], 0, 10],
    [[10, 20, 30], 1, 30],
    [[7], 0.99, 7],
    [[-1, 10, 9], 0.5, 9],
  ])('of %j at %d is %d', (values, share, expected) => {
    expect(quantile(values, share)).toBe(expected);
    expect(quantile(Float64Array.from(values), share)).toBe(expected);
  });

  it('leave 1 % of a thousand values above the 99th percentile, and do not sort what they are given', () => {
    const values = Array.from({ length: 1000 }, (_, index) => 1000 - index);
    expect(quantile(values, 0.99)).toBe(990);
    expect(values[0]).toBe(1000);
  });

  it('are none of no values, and neither is a mean', () => {
    expect(quantile([], 0.5)).toBeNaN();
    expect(mean([])).toBeNaN();
    expect(mean([1, 2, 6])).toBe(3);
  });
});
