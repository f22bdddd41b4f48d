import { expect, it } from 'vitest';
import { SeededRandom } from './index.js';

it('draws the same by the same seed, all choices, and otherwise by another', () => {
  const drawn = (seed: number) => {
    const random = new SeededRandom(seed);
    return Array.from({ length: 200 }, () => random.below(7));
  };
  expect(drawn(3)).toEqual(drawn(3));
  expect(drawn(3)).not.toEqual(drawn(4));
  expect(new Set(drawn(3)).size).toBe(7);
  const random = new SeededRandom(1);
  const shares = Array.from({ length: 1000 }, () => random.share());
  expect(Math.min(...shares)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...shares)).toBeLessThan(1);
  expect(shares.reduce((sum, share) => sum + share, 0) / 1000).toBeCloseTo(0.5, 1);
  expect(() => random.pick([])).toThrow(RangeError);
});
