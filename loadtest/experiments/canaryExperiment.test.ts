import { describe, expect, it } from 'vitest';
import { alike, endedWithin, tryWithSeeds } from './canaryExperiment.js';

const SEEDS = 30;
const SEED = 20170327;

// Of 100 seeds the experiment counts 95 and 90.
describe('candidates', () => {
  it('that are 2 points worse are withdrawn within 2,000 queries', () => {
    const row = tryWithSeeds(alike('worse', 0.1, 0.04, 0.02), 2000, SEEDS, SEED);
    expect(endedWithin(row, 'withdrawn', 2000)).toBeGreaterThanOrEqual(27);
    expect(endedWithin(row, 'promoted', 2000)).toBe(0);
  });

  it('that are equal are promoted', () => {
    const row = tryWithSeeds(alike('equal', 0.1, 0.04, 0), 20_000, SEEDS, SEED);
    expect(endedWithin(row, 'promoted', 20_000)).toBeGreaterThanOrEqual(26);
  });

  it.each([
    ['slow', { slower: 2 }, 'latency'],
    ['failing', { fails: 0.2 }, 'errors'],
  ])('that are %s are withdrawn, and it is said why', (_what, more, rail) => {
    const { trials } = tryWithSeeds({ ...alike('bad', 0.1, 0.02, 0), ...more }, 3000, 10, SEED);
    for (const { phase, reason, served, queries } of trials) {
      expect(phase).toBe('withdrawn');
      expect(reason).toMatch(new RegExp(`^${rail}: `));
      expect(served).toBeLessThan(queries / 8);
    }
  });
});
