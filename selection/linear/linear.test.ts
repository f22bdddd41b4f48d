import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyedDraw, checkPolicy, policyNamed, withParameters } from '../index.js';
import type { Features, Json } from '../policy.js';
import { eachEstimate, type LinearArms } from './linearArms.js';
import { linucbPolicy } from './linucb.js';
import { lintsPolicy } from './lints.js';
import { isSound, soundnessOf } from './tests/soundness.js';

const ARMS = ['a', 'b'];
const NAMES = ['x', 'y', 'z'];

interface Event {
  readonly arm: number;
  readonly values: readonly number[];
  readonly loss: number;
}

const events = fc.array(
  fc.record({
    arm: fc.nat(1),
    values: fc.array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: 3, maxLength: 3 }),
    loss: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  { minLength: 1, maxLength: 40 },
);

const featuresOf = (values: readonly number[], names = NAMES): Features =>
  Object.fromEntries(names.map((name) => [name, values[NAMES.indexOf(name)]]));

function learned(history: readonly Event[], parameters: Json, names = NAMES) {
  let state = linucbPolicy.init(ARMS, parameters);
  for (const { arm, values, loss } of history) {
    const selection = { arms: [ARMS[arm]], propensity: 1 };
    const query = { context: '', features: featuresOf(values, names) };
    state = linucbPolicy.observe(state, selection, [], { label: '', loss }, query);
  }
  return state;
}

function estimates(arms: LinearArms, features: Features | undefined): { mean: number; width: number }[] {
  const all: { mean: number; width: number }[] = [];
  eachEstimate(arms, features, (mean, width) => all.push({ mean, width }));
  return all;
}

/** Gauss and Jordan's: as plain as can be. */
function inverse(matrix: readonly (readonly number[])[]): number[][] {
  const rows = matrix.length;
  const work = matrix.map((row, at) => [...row, ...row.map((_, column) => (column === at ? 1 : 0))]);
  for (let pivot = 0; pivot < rows; pivot++) {
    const by = work[pivot][pivot];
    work[pivot] = work[pivot].map((value) => value / by);
    for (let row = 0; row < rows; row++) {
      if (row === pivot) continue;
      const share = work[row][pivot];
      work[row] = work[row].map((value, column) => value - share * work[pivot][column]);
    }
  }
  return work.map((row) => row.slice(rows));
}

const dot = (one: readonly number[], other: readonly number[]) =>
  one.reduce((sum, value, at) => sum + value * other[at], 0);

/** Mean and width by the formulas, of an arm that was judged last. */
function plainly(
  history: readonly Event[],
  arm: number,
  ridge: number,
  forgetting: number,
  values: readonly number[],
) {
  const rows = NAMES.length + 1;
  const matrix = Array.from({ length: rows }, (_, row) =>
    Array.from({ length: rows }, (_each, column) => (row === column ? ridge : 0)),
  );
  const target = new Array<number>(rows).fill(0);
  for (const [at, event] of history.entries()) {
    if (event.arm !== arm) continue;
    const weight = forgetting ** (history.length - 1 - at);
    const x = [1, ...event.values];
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < rows; column++) matrix[row][column] += weight * x[row] * x[column];
      target[row] += weight * (1 - event.loss) * x[row];
    }
  }
  const inverted = inverse(matrix);
  const x = [1, ...values];
  const solved = inverted.map((row) => dot(row, x));
  return { mean: dot(solved, target), width: Math.sqrt(dot(solved, x)) };
}

describe('linear policies', () => {
  it.each([
    [1, 1],
    [0.95, 0.5],
  ])('estimate as ridge regression does, forgetting %d, ridge %d', (forgetting, ridge) => {
    fc.assert(
      fc.property(
        events,
        fc.array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: 3, maxLength: 3 }),
        (history, values) => {
          const state = learned(history, { features: NAMES, forgetting, ridge });
          const [last] = history.slice(-1);
          const found = estimates(state, featuresOf(values))[last.arm];
          const wanted = plainly(history, last.arm, ridge, forgetting, values);
          expect(found.mean).toBeCloseTo(wanted.mean, 8);
          expect(found.width).toBeCloseTo(wanted.width, 8);
        },
      ),
      { seed: 3, numRuns: 200 },
    );
  });

  it('ask the arm that is best for the query, which another query need not be', () => {
    for (const name of ['linucb', 'lints']) {
      const policy = policyNamed(name);
      const draw = new KeyedDraw(5);
      let state = policy.init(ARMS, { features: ['x'] });
      let right = 0;
      for (let at = 0; at < 3000; at++) {
        const x = 2 * draw.of(`x ${at}`)() - 1;
        const query = { context: '', features: { x } };
        const selection = policy.select(state, draw.of(`${at}`), query);
        const best = x > 0 ? 'a' : 'b';
        if (at >= 2000 && Math.abs(x) > 0.2 && selection.arms[0] === best) right += 1;
        else if (at >= 2000 && Math.abs(x) <= 0.2) right += 1;
        const reward = selection.arms[0] === 'a' ? (1 + x) / 2 : (1 - x) / 2;
        const loss = draw.of(`loss ${at}`)() < reward ? 0 : 1;
        state = policy.observe(state, selection, [], { label: '', loss }, query);
      }
      expect(right).toBeGreaterThan(930);
    }
  });

  it('take a feature that is absent for 0, and no features for all of them absent', () => {
    const state = learned([{ arm: 0, values: [1, -1, 0.5], loss: 0.25 }], { features: NAMES });
    expect(estimates(state, { x: 2 })).toEqual(estimates(state, { x: 2, y: 0, z: 0 }));
    expect(estimates(state, undefined)).toEqual(estimates(state, { x: 0, y: 0, z: 0 }));
    expect(estimates(state, JSON.parse('{"x":2,"toString":1}') as Features)).toEqual(
      estimates(state, { x: 2 }),
    );
  });

  it('say which feature they do not take, and what they would', () => {
    const state = linucbPolicy.init(ARMS, { features: NAMES });
    expect(linucbPolicy.featureFault?.(state, { x: 1, z: 1e6 })).toBeUndefined();
    expect(linucbPolicy.featureFault?.(state, { x: 1, w: 2 })).toEqual({
      name: 'w',
      message: expect.stringMatching(/no feature 'w': it takes x, y, z; its parameter features/) as string,
    });
    expect(linucbPolicy.featureFault?.(state, { x: -2e6 })).toEqual({
      name: 'x',
      message: expect.stringMatching(/from -1000000 to 1000000, not -2000000: scale it/) as string,
    });
    expect(lintsPolicy.featureFault?.(lintsPolicy.init(ARMS, null), { w: 2 })?.message).toMatch(
      /it takes none/,
    );
  });

  it('know less of an arm the longer nothing is said of it, and never less than at first', () => {
    const ofA = { arm: 0, values: [1, 0, 0], loss: 0 };
    const ofB = { arm: 1, values: [0, 1, 0], loss: 0.5 };
    const parameters = { features: NAMES, forgetting: 0.95 };
    const widths = [0, 5, 50, 5000].map((times) => {
      const state = learned([ofA, ofA, ofA, ...new Array<Event>(times).fill(ofB)], parameters);
      return estimates(state, { x: 1 })[0].width;
    });
    expect(widths[1]).toBeGreaterThan(widths[0]);
    expect(widths[2]).toBeGreaterThanOrEqual(widths[1]);
    expect(widths[3]).toBeCloseTo(Math.SQRT2, 12);
    // And what comes then counts as the first did.
    const again = learned([ofA, ...new Array<Event>(50_000).fill(ofB), ofA], parameters);
    const first = learned([ofA], parameters);
    expect(estimates(again, { x: 1 })[0].mean).toBeCloseTo(estimates(first, { x: 1 })[0].mean, 12);
  });

  it('take other features in a state that has learned: as if those had been there alone', () => {
    fc.assert(
      fc.property(events, fc.shuffledSubarray(NAMES), (history, names) => {
        const parameters = { forgetting: 0.97, ridge: 0.5 };
        const all = learned(history, { ...parameters, features: NAMES });
        const fewer = withParameters(policyNamed('linucb'), all, { ...parameters, features: names });
        const wanted = learned(history, { ...parameters, features: names }, names);
        expect(linucbPolicy.restore(fewer)).toEqual(fewer);
        close(fewer, wanted);
        // And back: those that come were 0.
        const back = withParameters(policyNamed('linucb'), fewer, { ...parameters, features: NAMES });
        const zeroed = history.map((event) => ({
          ...event,
          values: NAMES.map((name, at) => (names.includes(name) ? event.values[at] : 0)),
        }));
        close(back, learned(zeroed, { ...parameters, features: NAMES }));
      }),
      { seed: 4, numRuns: 100 },
    );
    function close(one: Json, other: Json): void {
      const features = { x: 0.5, y: -1, z: 2 };
      const [found, wanted] = [one, other].map((state) =>
        estimates(state as unknown as LinearArms, features),
      );
      for (const [at, { mean, width }] of found.entries()) {
        expect(mean).toBeCloseTo(wanted[at].mean, 8);
        expect(width).toBeCloseTo(wanted[at].width, 8);
      }
    }
  });

  it('are symmetric positive definite and right after many updates', { timeout: 600_000 }, () => {
    const updates = process.env.WINDJAMMER_TESTS === 'all' ? 10_000_000 : 100_000;
    for (const forgetting of [1, 0.9998]) {
      const arms = soundnessOf({ seed: 1, updates, features: 8, forgetting, ridge: 1 });
      expect(arms.filter((arm) => !isSound(arm))).toEqual([]);
    }
  });

  it('refuse states whose matrix is none', () => {
    const state = learned([{ arm: 0, values: [1, 2, 3], loss: 0 }], { features: NAMES });
    const [first, second] = state.factors;
    for (const factor of [[], first.slice(1), first.map((one, at) => (at === 2 ? 0 : one)), ['x']]) {
      const damaged = { ...state, factors: [factor, second] } as unknown as Json;
      expect(() => linucbPolicy.restore(damaged)).toThrow(/no state of policy 'linucb'/);
    }
    expect(() => linucbPolicy.restore({ ...state, features: ['x', 'y'] })).toThrow(/no state/);
    expect(() => linucbPolicy.restore({ ...state, judgedAt: [5, 0] })).toThrow(/no state/);
  });

  it.each<[policy: string, parameters: Json, says: RegExp]>([
    ['linucb', { alpha: 0 }, /^alpha must be a number above 0 and at most 100/],
    ['lints', { v: -1 }, /^v must be a number above 0/],
    ['linucb', { ridge: 0 }, /^ridge must be a number above 0/],
    ['lints', { forgetting: 0.5 }, /^forgetting must be a number above 0.9 and at most 1/],
    ['linucb', { features: 'hour' }, /^features must be a list of names such as/],
    ['linucb', { features: ['hour', ''] }, /^features\[1\] must be a name of 1 to 64/],
    ['linucb', { features: ['hour', 7] }, /^features\[1\] must be a name/],
    ['lints', { features: ['hour', 'hour'] }, /'hour' is listed twice/],
    [
      'lints',
      { features: Array.from({ length: 65 }, (_, at) => `f${at}`) },
      /at most 64 names, 65 are given/,
    ],
    ['linucb', { v: 1 }, /no parameter 'v': it takes features, ridge, forgetting, prior, alpha/],
  ])('%s refuses %j', (policy, parameters, says) => {
    expect(() => checkPolicy(policy, parameters)).toThrow(says);
  });
});

describe('lints', () => {
  it('draws each reward from its posterior', () => {
    const history = [0.1, 0.7, 0.3].map((loss, at) => ({ arm: 0, values: [at, 1, -at], loss }));
    const lints = lintsPolicy.restore({ ...learned(history, { features: NAMES }), policy: 'lints', v: 0.8 });
    const features = { x: 0.5, y: 1, z: 0.25 };
    const [a, b] = estimates(lints, features);
    const draw = new KeyedDraw(9);
    const times = 40_000;
    let chosen = 0;
    for (let at = 0; at < times; at++) {
      const { arms } = lintsPolicy.select(lints, draw.of(`${at}`), { context: '', features });
      if (arms[0] === 'a') chosen += 1;
    }
    // The difference of two normals is one.
    const z = (a.mean - b.mean) / (0.8 * Math.hypot(a.width, b.width));
    expect(Math.abs(chosen / times - normalShare(z))).toBeLessThan(4 * Math.sqrt(0.25 / times));
  });
});

/** P(N(0, 1) <= z), by Simpson's rule. */
function normalShare(z: number): number {
  const steps = 2000;
  let sum = 0;
  for (let at = 0; at <= steps; at++) {
    const x = -8 + ((z + 8) * at) / steps;
    const weight = at === 0 || at === steps ? 1 : at % 2 === 1 ? 4 : 2;
    sum += weight * Math.exp((-x * x) / 2);
  }
  return (sum * (z + 8)) / (3 * steps) / Math.sqrt(2 * Math.PI);
}
