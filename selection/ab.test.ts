import { describe, expect, it } from 'vitest';
import { KeyedDraw, abPolicy, checkPolicy, type Json } from './index.js';

const ARMS = ['a', 'b', 'c'];

function dealt(parameters: Json, arms = ARMS, contexts = 20_000): string[] {
  const state = abPolicy.init(arms, parameters);
  const draw = new KeyedDraw(1);
  return Array.from({ length: contexts }, (_, at) => {
    const query = { context: `user ${at}` };
    return abPolicy.select(state, draw.of(`${at}`), query).arms[0] ?? '';
  });
}

const shareOf = (all: readonly string[], arm: string) => all.filter((one) => one === arm).length / all.length;

describe('ab', () => {
  it('gives a context the same model whatever else is asked, in the shares that it was told', () => {
    const split = { a: 90, b: 9, c: 1 };
    const first = dealt({ split });
    expect(dealt({ split })).toEqual(first);
    expect(shareOf(first, 'a')).toBeCloseTo(0.9, 1);
    expect(Math.abs(shareOf(first, 'b') - 0.09)).toBeLessThan(0.01);
    expect(Math.abs(shareOf(first, 'c') - 0.01)).toBeLessThan(0.004);
  });

  it('moves no more contexts than it must when shares change and models go', () => {
    const before = dealt({ split: { a: 1, b: 1 } }, ['a', 'b']);
    const after = dealt({ split: { a: 1, b: 3 } }, ['a', 'b']);
    expect(before.filter((arm, at) => arm === 'b' && after[at] !== 'b')).toEqual([]);
    const all = dealt(null);
    const without = dealt(null, ['a', 'c']);
    expect(all.filter((arm, at) => arm !== 'b' && arm !== without[at])).toEqual([]);
    // In another order of linking, too.
    expect(dealt(null, ['c', 'a', 'b'])).toEqual(all);
  });

  it('deals anew under another name of the experiment', () => {
    const [one, two] = ['one', 'two'].map((experiment) => dealt({ experiment }));
    const both = one.filter((arm, at) => arm === two[at]).length / one.length;
    expect(Math.abs(both - 1 / 3)).toBeLessThan(0.02);
  });

  it('draws for a query without a context, with the propensity of its share', () => {
    const state = abPolicy.init(ARMS, { split: { a: 3, b: 1 } });
    const draw = new KeyedDraw(2);
    const drawn = Array.from({ length: 20_000 }, (_, at) => abPolicy.select(state, draw.of(`${at}`)));
    expect(
      Math.abs(
        shareOf(
          drawn.map(({ arms }) => arms[0]),
          'a',
        ) - 0.75,
      ),
    ).toBeLessThan(0.01);
    for (const { arms, propensity } of drawn) expect(propensity).toBe(arms[0] === 'a' ? 0.75 : 0.25);
    expect([...abPolicy.shares(state)]).toEqual([
      ['a', 0.75],
      ['b', 0.25],
      ['c', 0],
    ]);
  });

  it('counts how each model did', () => {
    let state = abPolicy.init(ARMS, null);
    for (const [arm, loss] of [
      ['a', 0.25],
      ['b', 1],
      ['a', 0],
    ] as const) {
      state = abPolicy.observe(state, { arms: [arm], propensity: 1 / 3 }, [], { label: '', loss });
    }
    expect(state).toMatchObject({ judged: [2, 1, 0], rewarded: [1.75, 0, 0] });
  });

  it.each<[Json, RegExp]>([
    [{ split: [1, 2] }, /^split must be an object of numbers by the names of models/],
    [{ split: { a: 0 } }, /^split.a must be a number above 0/],
    [{ split: { a: '1' } }, /^split.a must be a number/],
    [{ experiment: 'x'.repeat(65) }, /^experiment must be a name of up to 64/],
  ])('refuses %j', (parameters, says) => {
    expect(() => checkPolicy('ab', parameters)).toThrow(says);
  });
});
