import { describe, expect, it } from 'vitest';
import { trial } from './tests/trial.js';

describe('two frontends that write the same keys', () => {
  it.each([false, true])('leave a history that is linearisable; with cuts: %s', async (withCuts) => {
    const { outcomes, cuts, violations } = await trial({ seed: 3, writes: 5000, withCuts });
    expect(violations).toEqual([]);
    expect(outcomes['made']).toBeGreaterThan(500);
    expect(outcomes['refused']).toBeGreaterThan(100);
    if (withCuts) expect(cuts).toBeGreaterThan(5);
  });
});
