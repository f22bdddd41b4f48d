import { describe, expect, it } from 'vitest';
import {
  clippedInversePropensity,
  doublyRobust,
  effectiveSamples,
  inversePropensity,
  selfNormalised,
  type WeightedLoss,
} from './estimators.js';

const row = (weight: number, loss: number, cluster: number, expected = 0, modelled = 0): WeightedLoss => ({
  weight,
  loss,
  cluster,
  expected,
  modelled,
});

// By hand: weights 2, 0, 4, 0 of losses 1, -, 0.5, -.
const rows = [row(2, 1, 0), row(0, 0, 1), row(4, 0.5, 2), row(0, 0, 3)];

describe('estimators', () => {
  it('weigh losses by what the policy would have done over what was done', () => {
    const { mean, standardError, low, high } = inversePropensity(rows);
    expect(mean).toBe(1);
    // Scores 2, 0, 2, 0.
    expect(standardError).toBeCloseTo(Math.sqrt(4 / 3 / 4), 12);
    expect(low).toBe(0);
    expect(high).toBe(1);
    expect(selfNormalised(rows).mean).toBeCloseTo(4 / 6, 12);
    expect(effectiveSamples(rows)).toBeCloseTo(36 / 20, 12);
  });

  it('clip weights, and reach up by what was cut off', () => {
    const many = Array.from({ length: 400 }, (_, at) => row(at % 4 === 0 ? 4 : 0, 0.25, at));
    const whole = inversePropensity(many);
    expect(whole.mean).toBeCloseTo(0.25, 12);
    expect(clippedInversePropensity(many, 4)).toEqual(whole);
    const clipped = clippedInversePropensity(many, 2);
    expect(clipped.mean).toBeCloseTo(0.125, 12);
    // Half of each weight is gone: with losses of 1 that is 0.5 on average.
    expect(clipped.high).toBeGreaterThan(0.125 + 0.5);
    expect(clipped.low).toBeLessThan(0.125);
  });

  it('trust a model of losses no further than feedback bears it out', () => {
    const right = Array.from({ length: 100 }, (_, at) => row(at % 2 === 0 ? 2 : 0, 0.3, at, 0.3, 0.3));
    expect(doublyRobust(right)).toMatchObject({ standardError: expect.closeTo(0, 12) as number });
    expect(doublyRobust(right).mean).toBeCloseTo(0.3, 12);
    const wrong = right.map((one) => ({ ...one, expected: 0.9, modelled: 0.9 }));
    expect(doublyRobust(wrong).mean).toBeCloseTo(0.3, 12);
    expect(doublyRobust(wrong).standardError).toBeGreaterThan(0.05);
  });

  it('take what one draw has decided for one sample', () => {
    const apart = Array.from({ length: 100 }, (_, at) => row(at < 50 ? 2 : 0, 0.5, at));
    const together = apart.map((one, at) => ({ ...one, cluster: Math.floor(at / 10) }));
    expect(effectiveSamples(apart)).toBe(50);
    expect(effectiveSamples(together)).toBe(5);
    expect(inversePropensity(together).standardError).toBeGreaterThan(
      3 * inversePropensity(apart).standardError,
    );
  });
});
