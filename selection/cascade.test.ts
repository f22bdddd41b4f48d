import { describe, expect, it } from 'vitest';
import { cascadePolicy, checkPolicy, KeyedDraw, type CascadeState, type Json } from './index.js';
import { logOdds, probabilityOf } from './confidence.js';

const ARMS = ['small', 'middle', 'large'];
const sure = (probability: number) => new Float32Array([probability, 1 - probability]);
const said = (arm: string, probability: number) => ({ arm, output: arm, scores: sure(probability) });

const answered = (arm: string) => ({ arm, kind: 'answered', latencyMs: 1, isCached: false }) as const;

describe('how sure a model is', () => {
  it.each([
    [[0.9, 0.1], 0.9],
    [[0.2, 0.5, 0.3], 0.5],
    // Logits.
    [[2, 0], 1 / (1 + Math.exp(-2))],
    [[1000, 0, 0], probabilityOf(20)],
    [[1, 0], probabilityOf(20)],
    [[-3, -3], 0.5],
  ])('of scores %j is %d', (scores, probability) => {
    expect(probabilityOf(logOdds(new Float32Array(scores)))).toBeCloseTo(probability, 6);
  });

  it('is nothing without scores, and of scores that are no numbers', () => {
    for (const scores of [
      undefined,
      new Float32Array(0),
      new Float32Array([3]),
      new Float32Array([NaN, 1]),
    ]) {
      expect(logOdds(scores)).toBe(-20);
    }
  });
});

describe('cascade', () => {
  it('asks the next where the last is not sure, or has no answer, and nobody behind the last', () => {
    const state = cascadePolicy.init(ARMS, { threshold: 0.8 });
    const next = (asked: string[], arrived: Parameters<NonNullable<typeof cascadePolicy.escalate>>[2]) =>
      cascadePolicy.escalate?.(state, asked, arrived);
    expect(cascadePolicy.select(state, () => 0).arms).toEqual(['small']);
    expect(next(['small'], [said('small', 0.81)])).toBeUndefined();
    expect(next(['small'], [said('small', 0.79)])).toBe('middle');
    expect(next(['small'], [])).toBe('middle');
    expect(next(['small'], [{ arm: 'small', output: 'x' }])).toBe('middle');
    expect(next(['small', 'middle'], [said('small', 0.5), said('middle', 0.5)])).toBe('large');
    expect(next(['small', 'middle', 'large'], [])).toBeUndefined();
    // One that was unlinked meanwhile: the first of the others.
    expect(next(['gone'], [])).toBe('small');
  });

  it('answers with the last that has answered', () => {
    const state = cascadePolicy.init(ARMS, null);
    const asked = ['small', 'middle'];
    const both = [said('small', 0.6), said('middle', 0.75)];
    const answer = cascadePolicy.combine(state, asked, both);
    expect(answer.output).toBe('middle');
    expect(answer.confidence).toBeCloseTo(0.75, 6);
    expect(cascadePolicy.combine(state, asked, both.slice(0, 1)).output).toBe('small');
    expect(cascadePolicy.combine(state, asked, [])).toEqual({ output: undefined, confidence: 0 });
  });

  it.each([
    [3, 0.5],
    [8, 0.99],
    [1.5, 0.9],
  ])('learns a threshold that keeps to a budget of %d a query, from %d', (budget, threshold) => {
    const parameters = { budget, threshold, costs: { small: 1, large: 9 } };
    let state: CascadeState = cascadePolicy.init(['small', 'large'], parameters);
    const draw = new KeyedDraw(3);
    let cost = 0;
    const queries = 20_000;
    for (let at = 0; at < queries; at++) {
      // Confidence is anything from 0.5 to 1, mostly near 1.
      const small = said('small', 1 - draw.of(`${at}`)() ** 3 / 2);
      const isMore = cascadePolicy.escalate?.(state, ['small'], [small]) !== undefined;
      if (at >= queries / 2) cost += isMore ? 10 : 1;
      const asked = isMore ? ['small', 'large'] : ['small'];
      state = cascadePolicy.notice?.(state, [asked.map(answered)]) ?? state;
    }
    expect(Math.abs(cost / (queries / 2) / budget - 1)).toBeLessThan(0.03);
    expect(Math.abs(state.spent / budget - 1)).toBeLessThan(0.2);
    expect(cascadePolicy.shares(state).get('large')).toBeCloseTo((budget - 1) / 9, 1);
  });

  it('keeps its threshold without a budget', () => {
    const state = cascadePolicy.init(ARMS, { threshold: 0.8 });
    const noticed = cascadePolicy.notice?.(state, [[answered('small')]]);
    expect(noticed?.limit).toBe(state.limit);
  });

  it.each<[Json, RegExp]>([
    [{ threshold: 2 }, /^threshold must be a number from 0 to 1/],
    [{ budget: 0 }, /^budget must be a number above 0/],
    [{ budget: '3' }, /^budget must be a number above 0/],
    [{ costs: { small: -1 } }, /^costs.small must be a number above 0/],
  ])('refuses %j', (parameters, says) => {
    expect(() => checkPolicy('cascade', parameters)).toThrow(says);
  });
});
