import { describe, expect, it } from 'vitest';
import { betaDraw } from './betaDraw.js';
import { probabilitiesToLead } from './betaRanking.js';
import { KeyedDraw, checkPolicy, policyNamed } from './index.js';
import { exp3sPolicy } from './exp3s.js';
import { epsilonGreedyPolicy } from './epsilonGreedy.js';
import { thompsonPolicy } from './thompson.js';
import { ucb1Policy } from './ucb1.js';

const ARMS = ['a', 'b', 'c'];
const RIGHT = { label: 'yes' };

function answers(arm: string, right: boolean) {
  return [{ arm, output: right ? 'yes' : 'no' }];
}

it.each([
  ['exp3s', 'gamma', 0],
  ['exp3s', 'alpha', 2],
  ['epsilonGreedy', 'epsilon', 0],
  ['epsilonGreedy', 'memory', 1],
  ['ucb1', 'exploration', '2'],
  ['thompson', 'memory', 0],
  ['exp4', 'eta', -1],
  ['exp4', 'floor', 0],
  ['weighted', 'memory', 'long'],
])('%s refuses %s = %j by name', (policy, name, value) => {
  expect(() => checkPolicy(policy, { [name]: value })).toThrow(new RegExp(`^${name} must be a number`));
});

describe('exp3s', () => {
  it('follows the paper: reward over propensity, and a share of all weight to everyone', () => {
    const state = exp3sPolicy.init(ARMS, { gamma: 0.3, alpha: 0.01 });
    const next = exp3sPolicy.observe(state, { arms: ['b'], propensity: 0.5 }, answers('b', true), RIGHT);
    const dealt = (Math.E * 0.01 * 3) / 3;
    const weights = [1 + dealt, Math.exp((0.3 * (1 / 0.5)) / 3) + dealt, 1 + dealt];
    const ratio = Math.exp(next.logWeights[0] - next.logWeights[1]);
    expect(ratio).toBeCloseTo(weights[0] / weights[1], 12);
    expect(next.logWeights[1]).toBe(0);
  });

  it('turns to a new best arm sooner than exp3 without a floor', () => {
    const switchedAfter = (name: string, parameters: object): number => {
      const policy = policyNamed(name);
      const draw = new KeyedDraw(4);
      let state = policy.init(ARMS, { ...parameters });
      for (let at = 0; at < 20_000; at++) {
        const best = at < 10_000 ? 'a' : 'c';
        const selection = policy.select(state, draw.of(`${at}`));
        const right = draw.of(`right ${at}`)() < (selection.arms[0] === best ? 0.8 : 0.4);
        state = policy.observe(state, selection, answers(selection.arms[0], right), RIGHT);
        if (at >= 10_000 && (policy.shares(state).get('c') ?? 0) > 0.5) return at - 10_000;
      }
      return Infinity;
    };
    const sharing = switchedAfter('exp3s', {});
    expect(sharing).toBeLessThan(2000);
    expect(switchedAfter('exp3', { floor: 1e-300 })).toBeGreaterThan(2 * sharing);
  });
});

describe('epsilonGreedy', () => {
  it('asks the best mean, the unjudged first, anyone by epsilon', () => {
    let state = epsilonGreedyPolicy.init(ARMS, { epsilon: 0.75, memory: null });
    const greedy = () => epsilonGreedyPolicy.select(state, () => 0.9);
    const served: string[] = [];
    for (const right of [false, true, true, true]) {
      const selection = greedy();
      served.push(selection.arms[0]);
      state = epsilonGreedyPolicy.observe(state, selection, answers(selection.arms[0], right), RIGHT);
    }
    expect(served).toEqual(['a', 'b', 'c', 'b']);
    expect(greedy()).toEqual({ arms: ['b'], propensity: 0.25 + 0.25 });
    expect(epsilonGreedyPolicy.select(state, () => 0.05)).toEqual({ arms: ['a'], propensity: 0.25 });
    expect(epsilonGreedyPolicy.select(state, () => 0.7499).arms).toEqual(['c']);
    expect(epsilonGreedyPolicy.shares(state).get('b')).toBeCloseTo(0.5, 12);
  });

  it('forgets as its memory says', () => {
    const state = { ...epsilonGreedyPolicy.init(['a'], { memory: 4 }), judged: [2], rewarded: [1] };
    const next = epsilonGreedyPolicy.observe(
      state,
      { arms: ['a'], propensity: 1 },
      answers('a', true),
      RIGHT,
    );
    expect(next).toMatchObject({ judged: [2.5], rewarded: [1.75] });
  });
});

describe('ucb1', () => {
  it('asks each once in order, then the highest bound, the first among equals', () => {
    let state = ucb1Policy.init(ARMS, { memory: null });
    const served: string[] = [];
    const rewards = new Map([
      ['a', 0.4],
      ['b', 0.8],
      ['c', 0.8],
    ]);
    for (let at = 0; at < 5; at++) {
      const selection = ucb1Policy.select(state, () => NaN);
      const [arm] = selection.arms;
      served.push(arm);
      const loss = 1 - (rewards.get(arm) ?? 0);
      state = ucb1Policy.observe(state, selection, answers(arm, true), { ...RIGHT, loss });
    }
    // b and c have the same bound after the first round; after b's second turn c's is higher.
    expect(served).toEqual(['a', 'b', 'c', 'b', 'c']);
    expect(state.judged).toEqual([1, 2, 2]);
    const bound = (mean: number, count: number) => mean + Math.sqrt((2 * Math.log(5)) / count);
    expect(bound(0.4, 1)).toBeGreaterThan(bound(0.8, 2));
    expect(ucb1Policy.select(state, () => NaN).arms).toEqual(['a']);
  });
});

describe('thompson', () => {
  it.each([
    [1, 1],
    [1, 30],
    [2.5, 7.25],
    [800, 200],
  ])('draws from Beta(%d, %d): mean and variance', (a, b) => {
    const draw = new KeyedDraw(5);
    const values = Array.from({ length: 40_000 }, (_, at) => betaDraw(a, b, draw.of(`${at}`)));
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    const expected = (a * b) / ((a + b) ** 2 * (a + b + 1));
    expect(Math.abs(mean - a / (a + b))).toBeLessThan(5 * Math.sqrt(expected / values.length));
    expect(variance / expected).toBeGreaterThan(0.95);
    expect(variance / expected).toBeLessThan(1.05);
    expect(values.every((value) => value > 0 && value < 1)).toBe(true);
  });

  it('draws from the whole of Beta(2, 3): its distribution', () => {
    const draw = new KeyedDraw(8);
    const values = Array.from({ length: 20_000 }, (_, at) => betaDraw(2, 3, draw.of(`${at}`))).sort(
      (x, y) => x - y,
    );
    // P(X <= x) = x^2 (6 - 8x + 3x^2)
    const worst = values.reduce((most, x, at) => {
      const exact = x * x * (6 - 8 * x + 3 * x * x);
      return Math.max(most, Math.abs((at + 0.5) / values.length - exact));
    }, 0);
    // Kolmogorov and Smirnov: one in a thousand is above 1.95 / sqrt(n).
    expect(worst).toBeLessThan(1.95 / Math.sqrt(values.length));
  });

  it('knows how probable each choice is', () => {
    const [first, second] = probabilitiesToLead([2, 1], [1, 1]);
    expect(first).toBeCloseTo(2 / 3, 3);
    expect(second).toBeCloseTo(1 / 3, 3);
    expect(probabilitiesToLead([5, 5, 5], [9, 9, 9])[2]).toBeCloseTo(1 / 3, 9);
    const state = { ...thompsonPolicy.init(ARMS, null), judged: [40, 30, 5], rewarded: [24, 21, 2] };
    const draw = new KeyedDraw(23);
    const counts = new Map(ARMS.map((arm) => [arm, 0]));
    for (let at = 0; at < 40_000; at++) {
      const [arm] = thompsonPolicy.select(state, draw.of(`q${at}`)).arms;
      counts.set(arm, (counts.get(arm) ?? 0) + 1);
    }
    for (const [arm, share] of thompsonPolicy.shares(state)) {
      expect(Math.abs((counts.get(arm) ?? 0) / 40_000 - share)).toBeLessThan(0.01);
    }
  });
});
