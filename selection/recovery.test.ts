import { describe, expect, it } from 'vitest';
import { KeyedDraw, POLICY_NAMES, policyNamed } from './index.js';

const ARMS = ['a', 'b', 'c'];
const RIGHT = { label: 'yes' };
/** With `WINDJAMMER_TESTS=all` in the environment a million. */
const FEEDBACKS = process.env.WINDJAMMER_TESTS === 'all' ? 1_000_000 : 200_000;

/** Whose shares feedback changes that tells arms apart. */
function learns(name: string): boolean {
  const policy = policyNamed(name);
  const draw = new KeyedDraw(1);
  let state = policy.init(ARMS, null);
  const before = [...policy.shares(state)];
  for (let at = 0; at < 10; at++) {
    const selection = policy.select(state, draw.of(`${at}`));
    const predictions = selection.arms.map((arm) => ({ arm, output: arm === 'b' ? 'yes' : 'no' }));
    state = policy.observe(state, selection, predictions, RIGHT);
  }
  return JSON.stringify([...policy.shares(state)]) !== JSON.stringify(before);
}

const LEARNING = POLICY_NAMES.filter(learns);

it('holds those that learn, which most policies do', () => {
  expect(POLICY_NAMES.filter((name) => !LEARNING.includes(name))).toEqual([
    'static',
    'majority',
    'ab',
    'shadow',
    'cascade',
    'canary',
  ]);
});

describe.each(LEARNING)('%s', (name) => {
  const policy = policyNamed(name);

  it('survives bad feedbacks without end: finite, positive, summing to one, and the best arm comes back', () => {
    let state = policy.init(ARMS, null);
    const draw = new KeyedDraw(11);
    const query = (key: string, right: (arm: string) => boolean): readonly string[] => {
      const selection = policy.select(state, draw.of(key));
      const predictions = selection.arms.map((arm) => ({ arm, output: right(arm) ? 'yes' : 'no' }));
      state = policy.observe(state, selection, predictions, RIGHT);
      return selection.arms;
    };
    // At first nobody is right; then the others are half the time, and 'c' still never is.
    for (let at = 0; at < FEEDBACKS / 2; at++) query(`${at}`, () => false);
    for (let at = FEEDBACKS / 2; at < FEEDBACKS; at++) query(`${at}`, (arm) => arm !== 'c' && at % 2 === 0);
    const shares = policy.shares(state);
    for (const share of shares.values()) expect(share > 0 && share < 1).toBe(true);
    expect([...shares.values()].reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
    expect(shares.get('c')).toBeLessThan(0.1);

    for (let at = 0; at < 4000; at++) query(`later ${at}`, (arm) => arm === 'c');
    let asked = 0;
    for (let at = 0; at < 1000; at++) if (query(`last ${at}`, (arm) => arm === 'c').includes('c')) asked += 1;
    expect(asked).toBeGreaterThan(850);
    const { output } = policy.combine(
      state,
      ['a', 'c'],
      [
        { arm: 'a', output: 'no' },
        { arm: 'c', output: 'yes' },
      ],
    );
    if (['exp4', 'weighted'].includes(name)) expect(output).toBe('yes');
  });
});
