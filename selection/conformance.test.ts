import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ALL, judge, live, predictionsOf, RIGHT, RULES, steps } from './conformance/index.js';
import { KeyedDraw, POLICY_NAMES, PolicyError, checkPolicy, policyNamed, withParameters } from './index.js';
import type { Json } from './policy.js';

/** Other than the defaults, of every parameter. */
const OTHER: Readonly<Record<string, Json>> = {
  eta: 0.2,
  gamma: 0.2,
  floor: 1e-6,
  alpha: 0.002,
  epsilon: 0.3,
  exploration: 3,
  memory: 700,
  threshold: 0.7,
  model: 'c',
  ridge: 2,
  forgetting: 0.99,
  v: 0.3,
  split: { a: 1, c: 2 },
  experiment: 'other',
  costs: { a: 1, b: 5 },
  budget: 2,
  prior: 3,
  candidate: 'd',
  steps: [0.1, 0.9],
  queries: 7,
  loss: 0.5,
  latency: null,
  errors: 0.2,
  confidence: 0.99,
  compared: 0.5,
  // Others give the state another shape.
  features: [],
};

describe.each(POLICY_NAMES)('policy %s', (name) => {
  const policy = policyNamed(name);
  const otherParameters = Object.fromEntries(policy.parameters.map((one) => [one, OTHER[one]]));
  // One that asks all.
  const isEnsemble = policy.select(policy.init(ALL, null), () => 0.5).arms.length === ALL.length;

  it.each(RULES.map((rule) => [rule.name, rule] as const))('%s', (_, rule) => {
    const { isKept, reason, counterexample } = judge(rule, { policy, parameters: null, otherParameters });
    expect({ isKept, reason, counterexample }).toEqual({ isKept: true });
  });

  it('answers with one of the outputs that arrived', () => {
    fc.assert(
      fc.property(steps, fc.array(fc.constantFrom('yes', 'no', null), { minLength: 5 }), (history, said) => {
        live(policy, null, history, (state) => {
          const { arms } = policy.select(state, new KeyedDraw(9).of('q'));
          const arrived = predictionsOf(arms, said);
          if (arrived.length === 0) return;
          expect(arrived.map(({ output }) => output)).toContain(policy.combine(state, arms, arrived).output);
        });
      }),
      { seed: 10, numRuns: 60 },
    );
  });

  it('gives the same shares in whatever order models are linked', () => {
    // The first of those answers for all, or stands for what is tried.
    if (['static', 'shadow', 'cascade', 'canary'].includes(name)) return;
    fc.assert(
      fc.property(steps, fc.shuffledSubarray([...ALL], { minLength: 5 }), (history, order) => {
        const learned = live(
          policy,
          null,
          history.filter(({ kind }) => kind === 'feedback'),
        );
        const shares = policy.shares(policy.reconcile(learned, order));
        for (const [arm, share] of policy.shares(learned)) {
          // An epsilon goes to the leader, who is the first among equals.
          if (name !== 'epsilonGreedy') expect(shares.get(arm)).toBeCloseTo(share, 9);
        }
      }),
      { seed: 11, numRuns: 60 },
    );
  });

  it('has other parameters as members of the state, and changes nothing else', () => {
    fc.assert(
      fc.property(steps, (history) => {
        const learned = live(policy, null, history) as Record<string, Json>;
        const changed = withParameters(policy, learned, otherParameters);
        expect(changed).toEqual({ ...learned, ...otherParameters });
      }),
      { seed: 12, numRuns: 30 },
    );
  });

  if (policy.prior !== undefined) {
    it('gives a context as much of what the application has learned as its own feedback outweighs', () => {
      const draw = new KeyedDraw(14);
      const query = (state: Json, key: string, right: string): [Json, readonly string[]] => {
        const selection = policy.select(state, draw.of(key));
        const predictions = selection.arms.map((arm) => ({ arm, output: arm === right ? 'yes' : 'no' }));
        return [policy.observe(state, selection, predictions, RIGHT), selection.arms];
      };
      let own = policy.init(ALL, null);
      for (let at = 0; at < 20_000; at++) [own] = query(own, `own ${at}`, 'b');
      const fresh = policy.init(ALL, null);
      const began = policy.prior?.(own) ?? fresh;
      const leads = (state: Json, arm: string) =>
        [...policy.shares(state)].every(([other, share]) => other === arm || share < shareOf(state, arm));
      const shareOf = (state: Json, arm: string) => policy.shares(state).get(arm) ?? 0;
      // What is good for all comes first.
      let asked = 0;
      for (let context = 0; context < 20; context++) {
        let [withPrior, without] = [began, fresh];
        for (let at = 0; at < 20; at++) {
          const [next, arms] = query(withPrior, `with ${context} ${at}`, 'b');
          const [other, others] = query(without, `without ${context} ${at}`, 'b');
          [withPrior, without] = [next, other];
          asked += Number(arms.includes('b')) - Number(others.includes('b'));
        }
      }
      if (isEnsemble) expect(shareOf(began, 'b')).toBeGreaterThan(shareOf(fresh, 'b') + 0.02);
      else expect(asked).toBeGreaterThanOrEqual(20);
      // And what is good for this context soon after.
      let context = began;
      for (let at = 0; at < 500; at++) [context] = query(context, `context ${at}`, 'd');
      expect(leads(context, 'd')).toBe(true);
    });

    it('gives a context nothing of nothing, and nothing where it is not to', () => {
      const fresh = policy.init(ALL, null);
      expect(policy.prior?.(fresh)).toEqual(fresh);
      expect(policy.prior?.(policy.init(ALL, { prior: 0 }))).toBeUndefined();
      expect(() => checkPolicy(name, { prior: -1 })).toThrow(/^prior must be a number from 0 to 1000000/);
      // States of programs before there was one.
      const older = Object.fromEntries(
        Object.entries(fresh as Record<string, Json>).filter(([member]) => member !== 'prior'),
      );
      expect(policy.restore(older)).toEqual(fresh);
    });
  }

  it('refuses a state of its own when it was damaged', () => {
    const whole = policy.init(ALL, null) as Record<string, Json>;
    for (const field of Object.keys(whole)) {
      // A static policy without a model answers with the first one; what is tried and an experiment may have any name.
      if (['model', 'candidate', 'experiment'].includes(field)) continue;
      expect(() => policy.restore({ ...whole, [field]: 'damaged' })).toThrow(PolicyError);
    }
  });

  it.each([[{ nope: 1 }], ['text'], [[1]], [7]])('refuses the parameters %j', (parameters: Json) => {
    expect(() => checkPolicy(name, parameters)).toThrow(PolicyError);
  });

  it('refuses an arm that is listed twice', () => {
    expect(() => policy.init(['a', 'a'], null)).toThrow(/'a' is listed twice/);
  });

  it('has a row in the documentation', () => {
    expect(readFileSync(new URL('../docs/reference/policies.md', import.meta.url), 'utf8')).toContain(
      `| \`${name}\` |`,
    );
  });

  if (isEnsemble) {
    it('gives no output below the threshold, and says how sure it is', () => {
      const sure = policy.init(ALL, { threshold: 0.6 });
      const said = (outputs: readonly (string | null)[]) =>
        policy.combine(sure, ALL, predictionsOf(ALL, outputs));
      expect(said(['x', 'x', 'x', 'y', null])).toEqual({
        output: 'x',
        confidence: expect.closeTo(0.6, 12) as number,
      });
      expect(said(['x', 'x', 'y', 'z', null])).toEqual({
        output: undefined,
        confidence: expect.closeTo(0.4, 12) as number,
      });
      expect(said(['x', 'x', null, null, null]).output).toBeUndefined();
      expect(() => checkPolicy(name, { threshold: 1.1 })).toThrow(/^threshold must be a number from 0 to 1/);
    });
  }
});

it('has a prior for contexts of every policy that learns for each', () => {
  expect(POLICY_NAMES.filter((name) => policyNamed(name).prior === undefined)).toEqual([
    'static',
    'majority',
    'ab',
    'shadow',
    'cascade',
    'canary',
  ]);
});

it('knows its policies by name', () => {
  expect(() => policyNamed('best')).toThrow(
    `there is no policy 'best': choose one of ${POLICY_NAMES.join(', ')}`,
  );
});
