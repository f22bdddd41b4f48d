import { describe, expect, it } from 'vitest';
import { KeyedDraw, POLICY_NAMES, policyNamed, type Json } from '../index.js';
import { EvaluationError } from './evaluationError.js';
import { evaluatePolicy, type EvaluationRequest } from './evaluatePolicy.js';
import { judgedLosses, parseLoggedFeedback, type LoggedFeedback } from './loggedFeedback.js';

const BASE: LoggedFeedback = {
  application: 'app',
  policy: 'epsilonGreedy',
  context: '',
  linked: ['a', 'b'],
  propensity: 0.5,
  losses: { a: 0 },
};

/** 'a' is right below zero and 'b' above; each was asked for every other query. */
function evenLog(queries = 400): LoggedFeedback[] {
  const draw = new KeyedDraw(3);
  return Array.from({ length: queries }, (_, at) => {
    const next = draw.of(`${at}`);
    const x = 2 * next() - 1;
    const arm = next() < 0.5 ? 'a' : 'b';
    return { ...BASE, features: { x }, losses: { [arm]: (arm === 'a') === x < 0 ? 0 : 1 } };
  });
}

function evaluate(
  log: readonly LoggedFeedback[],
  policy: string,
  parameters: Json = null,
  more: Partial<EvaluationRequest> = {},
) {
  return evaluatePolicy(log, { policy: policyNamed(policy), parameters, seed: 1, ...more });
}

function fault(run: () => unknown): EvaluationError {
  try {
    run();
  } catch (error) {
    if (error instanceof EvaluationError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('evaluatePolicy', () => {
  it('judges by features what was served without', () => {
    const log = evenLog();
    for (const { mean } of Object.values(evaluate(log, 'static', { model: 'a' }).estimates)) {
      expect(Math.abs(mean - 0.5)).toBeLessThan(0.1);
    }
    const linear = policyNamed('linucb');
    let state = linear.init(['a', 'b'], { features: ['x'] });
    for (let at = 0; at < 200; at++) {
      const query = { context: '', features: { x: ((at * 37) % 200) / 100 - 1 } };
      const arm = at % 2 === 0 ? 'a' : 'b';
      const loss = (arm === 'a') === query.features.x < 0 ? 0 : 1;
      state = linear.observe(state, { arms: [arm], propensity: 1 }, [], { label: '', loss }, query);
    }
    const found = evaluate(log, 'linucb', { features: ['x'] }, { state });
    expect(found.kind).toBe('fixed');
    expect(found.estimates.selfNormalised?.mean).toBeLessThan(0.1);
    expect(found.estimates.doublyRobust?.high).toBeLessThan(0.2);
    const learning = evaluate(log, 'linucb', { features: ['x'] });
    expect(learning.kind).toBe('replay');
    expect(learning.estimates.replay?.mean).toBeLessThan(0.25);
    // Every other choice was that of the log, and all of those count where the log is even.
    expect(Math.abs(learning.effectiveSamples - 200)).toBeLessThan(40);
  });

  it('accepts no more of what was asked often than of what was asked seldom', () => {
    const draw = new KeyedDraw(5);
    const log = Array.from({ length: 4000 }, (_, at): LoggedFeedback => {
      const next = draw.of(`${at}`);
      const isOften = next() < 0.8;
      const loss = next() < (isOften ? 0.8 : 0.2) ? 1 : 0;
      return { ...BASE, propensity: isOften ? 0.8 : 0.2, losses: { [isOften ? 'a' : 'b']: loss } };
    });
    const any = evaluate(log, 'epsilonGreedy', { epsilon: 1 });
    expect(Math.abs(any.effectiveSamples - 800)).toBeLessThan(90);
    expect(Math.abs((any.estimates.replay?.mean ?? 0) - 0.5)).toBeLessThan(0.06);
  });

  it('takes the losses of all models where all were judged', () => {
    const log = Array.from({ length: 100 }, (_, at): LoggedFeedback => {
      return { ...BASE, policy: 'majority', propensity: 1, losses: { a: at % 2, b: 0.25 } };
    });
    const { estimates, effectiveSamples } = evaluate(log, 'ab', { split: { a: 1, b: 3 } });
    expect(effectiveSamples).toBeCloseTo(100, 9);
    expect(estimates.ips?.mean).toBeCloseTo(0.5 / 4 + (0.25 * 3) / 4, 9);
  });

  it('counts queries of a context that an A/B test has dealt as one', () => {
    const log = evenLog(600).map((line, at) => ({ ...line, policy: 'ab', context: `user ${at % 12}` }));
    const error = fault(() => evaluate(log, 'static', { model: 'a' }));
    expect(error.fault).toBe('few_effective_samples');
    expect(error.message).toMatch(/are worth 1[0-2]\.\d of the policy's own, and it takes 50/);
  });

  const without = evenLog().map((line, at) =>
    at % 4 === 0 ? { ...line, policy: 'lints', propensity: undefined } : line,
  );
  const certain = evenLog().map((line) => ({ ...line, policy: 'ucb1', propensity: 1 }));
  it.each<[string, () => unknown, string, RegExp]>([
    [
      'no propensities',
      () => evaluate(without, 'static'),
      'no_propensities',
      /^no_propensities: 100 of 400 .*lints/,
    ],
    [
      'a model of the parameters',
      () => evaluate(evenLog(), 'static', { model: 'c' }),
      'unknown_arm',
      /'c'.*it has a, b/,
    ],
    ['a share of the parameters', () => evaluate(evenLog(), 'ab', { split: { d: 1 } }), 'unknown_arm', /'d'/],
    [
      'a state of others',
      () => evaluate(evenLog(), 'exp3', null, { state: policyNamed('exp3').init(['a', 'z'], null) }),
      'unknown_arm',
      /state is of a, z, and the log of a, b/,
    ],
    [
      'a feature',
      () => evaluate(evenLog(), 'linucb', { features: ['y'] }),
      'unknown_feature',
      /'y'.*they bring x/,
    ],
    [
      'choices without a draw',
      () => evaluate(certain, 'static', { model: 'a' }),
      'no_support',
      /(4|5)\d\.\d % of what 'static'/,
    ],
    [
      'choices that a learner would make',
      () => evaluate(certain, 'epsilonGreedy'),
      'no_support',
      /% of what 'epsilonGreedy'/,
    ],
    [
      'models that are linked and never asked',
      () => evaluate(evenLog(), 'static', { model: 'c' }, { arms: ['a', 'b', 'c'] }),
      'no_support',
      /100\.0 %/,
    ],
    [
      'a short log',
      () => evaluate(evenLog(40), 'static', { model: 'a' }),
      'few_effective_samples',
      /40 judged queries are worth (1|2)\d\.\d/,
    ],
    [
      'a short replay',
      () => evaluate(evenLog(40), 'exp3'),
      'few_effective_samples',
      /would have made \d+ of the log's 40/,
    ],
    ['an empty log', () => evaluate([], 'static'), 'few_effective_samples', /no judged query/],
  ])('refuses %s', (_what, run, name, message) => {
    const error = fault(run);
    expect(error.fault).toBe(name);
    expect(error.message).toMatch(message);
  });

  it.each(POLICY_NAMES)('judges %s, or says that its answer is made of several', (name) => {
    const isOfSeveral = ['exp4', 'majority', 'weighted', 'cascade', 'canary'].includes(name);
    const isFixed = ['static', 'ab', 'shadow'].includes(name);
    if (isOfSeveral) expect(fault(() => evaluate(evenLog(), name)).fault).toBe('several_answers');
    else expect(evaluate(evenLog(1000), name).kind).toBe(isFixed ? 'fixed' : 'replay');
    // What does not learn is what chooses the same after any feedback.
    const policy = policyNamed(name);
    let state = policy.init(['a', 'b'], null);
    const before = [...policy.shares(state).values()];
    for (let at = 0; at < 20; at++) {
      const arm = at % 3 === 0 ? 'a' : 'b';
      const feedback = { label: 'y', loss: arm === 'a' ? 1 : 0 };
      state = policy.observe(state, { arms: [arm], propensity: 0.5 }, [{ arm, output: 'x' }], feedback);
    }
    if (isFixed) expect([...policy.shares(state).values()]).toEqual(before);
    else if (!isOfSeveral) expect([...policy.shares(state).values()]).not.toEqual(before);
  });

  it.each(POLICY_NAMES)('%s says whether its propensities are those of its draws', (name) => {
    const policy = policyNamed(name);
    const state = policy.init(['a', 'b'], null);
    const draw = new KeyedDraw(1);
    const chosen = Array.from({ length: 400 }, (_, at) => policy.select(state, draw.of(`${at}`)));
    const share = (arm: string): number => chosen.filter(({ arms }) => arms[0] === arm).length / 400;
    const isTrue = chosen.every(({ arms, propensity }) => Math.abs(share(arms[0]) - propensity) < 0.1);
    expect(policy.isPropensityUnknown === true).toBe(!isTrue);
  });

  it('replays new contexts with the prior that those before have made', () => {
    // 'b' is right for everybody; each context has few lines.
    const log = evenLog(2000).map((line, at) => ({
      ...line,
      context: `user ${Math.floor(at / 20)}`,
      losses: { [Object.keys(line.losses)[0]]: Object.keys(line.losses)[0] === 'b' ? 0 : 1 },
    }));
    const lost = (prior: number) => evaluate(log, 'ucb1', { prior }).estimates.replay?.mean ?? NaN;
    expect(lost(0)).toBeGreaterThan(0.15);
    expect(lost(20)).toBeLessThan(0.1);
  });

  it('repeats from its seed', () => {
    const parameters = { features: ['x'] };
    const state = policyNamed('lints').init(['a', 'b'], parameters);
    const run = (seed: number) => evaluate(evenLog(), 'lints', parameters, { state, seed });
    expect(run(1)).toEqual(run(1));
    expect(run(1).estimates).not.toEqual(run(2).estimates);
    expect(Math.abs((run(1).estimates.ips?.mean ?? 0) - 0.5)).toBeLessThan(0.1);
  });
});

describe('a line of the log', () => {
  it.each<[string, RegExp]>([
    ['{', /^bad_line: log:3 is no JSON/],
    ['[]', /is no JSON object/],
    ['{"time_us":0,"application":"a","input_hash":"00"}', /has no losses.*record --feedback/],
    ['{"losses":{}}', /losses is empty/],
    ['{"losses":{"a":2}}', /from 0 to 1/],
    ['{"losses":{"a":0},"propensity":0}', /propensity must be a number from 1e-12 to 1, not 0/],
    ['{"losses":{"a":0},"propensity":5e-324}', /not 5e-324/],
    ['{"losses":{"a":0},"propensity":"1"}', /not "1"/],
    ['{"losses":{"a":0},"features":{"x":"1"}}', /features/],
    ['{"losses":{"a":0},"linked":"a"}', /linked/],
    ['{"losses":{"a":0},"context":1}', /context/],
    ['{"losses":{"a":0},"application":1}', /application/],
    ['{"losses":{"a":0},"policy":1}', /policy/],
  ])('that is %s is refused by its place', (text, message) => {
    expect(fault(() => parseLoggedFeedback(text, 'log:3')).message).toMatch(message);
  });

  it('has the losses that feedback tells', () => {
    const one = { arms: ['a'], propensity: 0.5 };
    const answered = [{ arm: 'a', output: 'x' }];
    expect(judgedLosses(one, answered, { label: 'x' })).toEqual({ a: 0 });
    expect(judgedLosses(one, [], { label: 'x' })).toEqual({ a: 1 });
    expect(judgedLosses(one, answered, { label: '', loss: 0.25, losses: {} })).toEqual({ a: 0.25 });
    expect(judgedLosses(one, answered, { label: 'x', losses: { a: 0.5 } })).toEqual({ a: 0.5 });
    // Another model was judged, which was not asked.
    expect(judgedLosses(one, [], { label: '', losses: { b: 0.5 } })).toEqual({});
    const all = { arms: ['a', 'b'], propensity: 1 };
    expect(judgedLosses(all, answered, { label: 'x' })).toEqual({ a: 0 });
    expect(judgedLosses(all, answered, { label: '', loss: 0.5, losses: {} })).toEqual({});
    expect(judgedLosses(all, [], { label: '', losses: { b: 0.5 } })).toEqual({ b: 0.5 });
    const beside = { arms: ['a'], shadows: ['b'], propensity: 1 };
    const both = [...answered, { arm: 'b', output: 'y' }];
    expect(judgedLosses(beside, both, { label: 'x' })).toEqual({ a: 0, b: 1 });
    expect(judgedLosses(beside, both, { label: 'x', loss: 0.5 })).toEqual({ a: 0.5, b: 1 });
    expect(judgedLosses(beside, both, { label: '', loss: 0.5, losses: {} })).toEqual({ a: 0.5 });
    expect(judgedLosses(beside, answered, { label: 'x' })).toEqual({ a: 0 });
  });
});
