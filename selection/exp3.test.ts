import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyedDraw, checkPolicy, exp3Policy } from './index.js';

const ARMS = ['a', 'b', 'c'];
const RIGHT = { label: 'yes' };

function answers(arm: string, right: boolean) {
  return [{ arm, output: right ? 'yes' : 'no' }];
}

describe('exp3', () => {
  it.each([
    ['eta', 0],
    ['eta', -1],
    ['gamma', 1.5],
    ['gamma', '0.1'],
    ['floor', 0],
  ])('refuses %s = %j by name', (name, value) => {
    expect(() => checkPolicy('exp3', { [name]: value })).toThrow(new RegExp(`^${name} must be a number`));
  });

  it('credits the arm that served, by the inverse of its propensity', () => {
    const state = exp3Policy.init(ARMS, { eta: 0.1 });
    const next = exp3Policy.observe(state, { arms: ['b'], propensity: 0.25 }, answers('b', false), RIGHT);
    expect(next.logWeights).toEqual([0, -0.1 / 0.25, 0]);
    expect(exp3Policy.observe(state, { arms: ['b'], propensity: 0.25 }, answers('b', true), RIGHT)).toBe(
      state,
    );
    const half = exp3Policy.observe(state, { arms: ['b'], propensity: 0.25 }, answers('b', true), {
      label: 'yes',
      loss: 0.5,
    });
    expect(half.logWeights[1]).toBeCloseTo(-0.2, 12);
  });

  it('takes a missing prediction for a wrong one, and ignores an arm that is gone', () => {
    const state = exp3Policy.init(ARMS, null);
    expect(exp3Policy.observe(state, { arms: ['a'], propensity: 1 }, [], RIGHT).logWeights[0]).toBeLessThan(
      0,
    );
    expect(exp3Policy.observe(state, { arms: ['z'], propensity: 1 }, [], RIGHT)).toBe(state);
  });

  it('stays sane under any feedback', () => {
    const step = fc.record({
      at: fc.nat(2),
      propensity: fc.double({ min: 1e-12, max: 1, noNaN: true }),
      loss: fc.oneof(fc.double(), fc.constant(undefined)),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let state = exp3Policy.init(ARMS, null);
        for (const { at, propensity, loss } of steps) {
          const feedback = loss === undefined ? RIGHT : { ...RIGHT, loss };
          state = exp3Policy.observe(state, { arms: [ARMS[at]], propensity }, [], feedback);
        }
        const shares = [...exp3Policy.shares(state).values()];
        expect(shares.every((share) => Number.isFinite(share) && share > 0)).toBe(true);
        expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
      }),
      { seed: 5, numRuns: 300 },
    );
  });

  it('draws as its shares say', () => {
    const state = { ...exp3Policy.init(ARMS, null), logWeights: [0, -1, -3] };
    const draw = new KeyedDraw(23);
    const counts = new Map(ARMS.map((arm) => [arm, 0]));
    for (let at = 0; at < 50_000; at++) {
      const { arms, propensity } = exp3Policy.select(state, draw.of(`q${at}`));
      counts.set(arms[0], (counts.get(arms[0]) ?? 0) + 1);
      expect(propensity).toBeCloseTo(exp3Policy.shares(state).get(arms[0]) ?? 0, 12);
    }
    for (const [arm, share] of exp3Policy.shares(state)) {
      expect(Math.abs((counts.get(arm) ?? 0) / 50_000 - share)).toBeLessThan(0.01);
    }
  });

  it('keeps what others have learned when arms come and go', () => {
    const state = { ...exp3Policy.init(ARMS, null), logWeights: [0, -1, -2] };
    const next = exp3Policy.reconcile(state, ['b', 'd', 'a']);
    expect(next.arms).toEqual(['b', 'd', 'a']);
    expect(next.logWeights[0] - next.logWeights[2]).toBeCloseTo(-1, 12);
    const shares = exp3Policy.shares({ ...next, gamma: 1e-9 });
    expect(shares.get('d')).toBeCloseTo(1 / 3, 6);
    expect(exp3Policy.reconcile(next, []).arms).toEqual([]);
  });
});
