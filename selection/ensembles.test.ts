import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exp4Policy } from './exp4.js';
import { vote } from './votes.js';
import { weightedPolicy } from './weighted.js';

const ARMS = ['a', 'b', 'c'];
const EVERYBODY = { arms: ARMS, propensity: 1 };
const RIGHT = { label: 'yes' };

function said(outputs: readonly (string | null)[]) {
  return ARMS.flatMap((arm, at) => {
    const output = outputs[at];
    return output === null ? [] : [{ arm, output }];
  });
}

describe('vote', () => {
  it('weighs, and counts a missing voter against confidence', () => {
    const weights = [1, 1, 3];
    expect(vote(ARMS, said(['x', 'x', 'y']), ARMS, weights, 0)).toEqual({ output: 'y', confidence: 0.6 });
    expect(vote(ARMS, said(['x', 'x', null]), ARMS, weights, 0)).toEqual({ output: 'x', confidence: 0.4 });
    expect(vote(ARMS, said(['x', 'y', null]), ARMS, [1, 1, 1], 0).output).toBe('x');
  });

  it('has the winner that replacing the missing by the average of the others gives', () => {
    const outputs = fc.array(fc.constantFrom('x', 'y', 'z', null), { minLength: 3, maxLength: 3 });
    const weights = fc.array(fc.double({ min: 0.01, max: 1, noNaN: true }), { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(outputs, weights, (given, shares) => {
        const arrived = said(given);
        if (arrived.length === 0) return;
        const sums = new Map<string, number>();
        let here = 0;
        for (const { arm, output } of arrived) {
          const weight = shares[ARMS.indexOf(arm)];
          here += weight;
          sums.set(output, (sums.get(output) ?? 0) + weight);
        }
        const missing = shares.reduce((sum, weight) => sum + weight, 0) - here;
        const replaced = [...sums].map(([label, sum]) => [label, sum + missing * (sum / here)] as const);
        const most = Math.max(...replaced.map(([, sum]) => sum));
        const { output } = vote(ARMS, arrived, ARMS, shares, 0);
        const winner = replaced.find(([label]) => label === output);
        expect(winner?.[1]).toBeCloseTo(most, 6);
      }),
      { seed: 12, numRuns: 500 },
    );
  });

  it('lets an arm that was unlinked on the way vote with the least weight', () => {
    const arrived = said(['x', 'x', 'y']);
    expect(vote(ARMS, arrived, ['b', 'c'], [1, 4], 0)).toEqual({ output: 'y', confidence: 4 / 6 });
  });
});

describe('exp4', () => {
  it('moves every weight by its own loss', () => {
    const state = exp4Policy.init(ARMS, { eta: 0.5 });
    const next = exp4Policy.observe(state, EVERYBODY, said(['yes', 'no', 'yes']), RIGHT);
    expect(next.logWeights).toEqual([0, -0.5, 0]);
    expect(exp4Policy.observe(state, EVERYBODY, [], RIGHT)).toBe(state);
  });

  it('discounts old losses, and with that still follows one good model against many bad ones', () => {
    const state = { ...exp4Policy.init(ARMS, { eta: 0.5, memory: 4 }), logWeights: [-1, 0, -2] };
    const next = exp4Policy.observe(state, EVERYBODY, said(['yes', 'yes', 'yes']), RIGHT);
    expect(next.logWeights).toEqual([-0.75, 0, -1.5]);
    let learned = exp4Policy.init(ARMS, null);
    const outputs = ['no', 'no', 'yes'];
    for (let at = 0; at < 200; at++) learned = exp4Policy.observe(learned, EVERYBODY, said(outputs), RIGHT);
    expect(exp4Policy.combine(learned, ARMS, said(outputs)).output).toBe('yes');
  });

  it('leaves the share of a missing model what it was', () => {
    const state = { ...exp4Policy.init(ARMS, { eta: 0.5, floor: 1e-9 }), logWeights: [0, -1, -2] };
    const before = exp4Policy.shares(state);
    const next = exp4Policy.observe(state, EVERYBODY, said(['yes', 'no', null]), RIGHT);
    const after = exp4Policy.shares(next);
    expect(after.get('c')).toBeCloseTo(before.get('c') ?? NaN, 12);
    expect(after.get('a')).toBeGreaterThan(before.get('a') ?? NaN);
  });

  it('judges by the label: a measured loss is of the answer that was served', () => {
    const state = exp4Policy.init(ARMS, { eta: 0.5 });
    const next = exp4Policy.observe(state, EVERYBODY, said(['yes', 'no', 'yes']), { ...RIGHT, loss: 0.9 });
    expect(next.logWeights).toEqual([0, -0.5, 0]);
  });
});

describe('weighted', () => {
  it('weighs by the error that it has seen', () => {
    let state = weightedPolicy.init(ARMS, { memory: null });
    for (let at = 0; at < 98; at++) {
      const outputs = [at % 10 === 0 ? 'no' : 'yes', at % 2 === 0 ? 'no' : 'yes', 'no'];
      state = weightedPolicy.observe(state, EVERYBODY, said(outputs), RIGHT);
    }
    const weights = [-Math.log(11 / 100), -Math.log(50 / 100), -Math.log(99 / 100)];
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const shares = weightedPolicy.shares(state);
    for (const [at, arm] of ARMS.entries()) expect(shares.get(arm)).toBeCloseTo(weights[at] / total, 12);
    // The good one outvotes the two others.
    expect(weightedPolicy.combine(state, ARMS, said(['x', 'y', 'y'])).output).toBe('x');
    const missing = weightedPolicy.observe(state, EVERYBODY, said(['yes', null, null]), RIGHT);
    expect(missing.judged).toEqual([99, 98, 98]);
  });
});
