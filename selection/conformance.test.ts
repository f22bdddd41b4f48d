import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyedDraw, POLICY_NAMES, PolicyError, checkPolicy, policyNamed, withParameters } from './index.js';
import type { ArmPrediction, Feedback, Json } from './policy.js';

const ALL = ['a', 'b', 'c', 'd', 'e'];
const RIGHT = { label: 'yes' };

/** Something that happens to a state. */
type Step =
  | { readonly kind: 'feedback'; readonly outputs: readonly (string | null)[]; readonly loss?: number }
  | { readonly kind: 'links'; readonly arms: readonly string[] };

const feedbackStep: fc.Arbitrary<Step> = fc.record(
  {
    kind: fc.constant('feedback' as const),
    // null: this arm's prediction did not arrive.
    outputs: fc.array(fc.constantFrom('yes', 'no', 'other', null), { minLength: 5, maxLength: 5 }),
    loss: fc.double({ min: -1, max: 2 }),
  },
  { requiredKeys: ['kind', 'outputs'] },
);
const linksStep: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('links' as const),
  arms: fc.shuffledSubarray(ALL),
});
const steps = fc.array(
  fc.oneof({ weight: 9, arbitrary: feedbackStep }, { weight: 1, arbitrary: linksStep }),
  {
    maxLength: 60,
  },
);

function predictionsOf(
  asked: readonly string[],
  outputs: readonly (string | null)[],
): readonly ArmPrediction[] {
  return asked.flatMap((arm) => {
    const output = outputs[ALL.indexOf(arm)];
    return output === null ? [] : [{ arm, output }];
  });
}

/** What every policy owes, whichever it is. */
describe.each(POLICY_NAMES)('policy %s', (name) => {
  const policy = policyNamed(name);
  // One that asks all.
  const isEnsemble = policy.select(policy.init(ALL, null), () => 0.5).arms.length === ALL.length;

  /** Lives through the steps, and calls back with every state on the way. */
  function live(history: readonly Step[], each: (state: Json, arms: readonly string[]) => void): Json {
    const draw = new KeyedDraw(3);
    let arms: readonly string[] = ALL;
    let state = policy.init(arms, null);
    for (const [at, step] of history.entries()) {
      if (step.kind === 'links') {
        arms = step.arms;
        state = policy.reconcile(state, arms);
      } else {
        const selection = policy.select(state, draw.of(`${at}`));
        const feedback: Feedback = step.loss === undefined ? RIGHT : { ...RIGHT, loss: step.loss };
        state = policy.observe(state, selection, predictionsOf(selection.arms, step.outputs), feedback);
      }
      each(state, arms);
    }
    return state;
  }

  it('has shares that are finite and add up to one, after any history', () => {
    fc.assert(
      fc.property(steps, (history) => {
        live(history, (state, arms) => {
          const shares = policy.shares(state);
          expect([...shares.keys()]).toEqual(arms);
          for (const share of shares.values()) expect(share >= 0 && share <= 1 + 1e-12).toBe(true);
          const total = [...shares.values()].reduce((sum, share) => sum + share, 0);
          expect(total).toBeCloseTo(arms.length === 0 ? 0 : 1, 9);
        });
      }),
      { seed: 5, numRuns: 60 },
    );
  });

  it('selects only arms that it has, each once, with a propensity', () => {
    fc.assert(
      fc.property(steps, fc.string(), (history, key) => {
        live(history, (state, arms) => {
          const selection = policy.select(state, new KeyedDraw(9).of(key));
          expect(new Set(selection.arms).size).toBe(selection.arms.length);
          for (const arm of selection.arms) expect(arms).toContain(arm);
          expect(selection.arms.length > 0).toBe(arms.length > 0);
          expect(selection.propensity > 0 && selection.propensity <= 1 + 1e-12).toBe(true);
        });
      }),
      { seed: 6, numRuns: 60 },
    );
  });

  it('draws by the query alone: what was drawn before changes nothing', () => {
    fc.assert(
      fc.property(steps, fc.array(fc.string(), { maxLength: 20 }), fc.string(), (history, before, key) => {
        const state = live(history, () => undefined);
        const fresh = policy.select(state, new KeyedDraw(9).of(key));
        const used = new KeyedDraw(9);
        for (const other of before) policy.select(state, used.of(other));
        expect(policy.select(state, used.of(key))).toEqual(fresh);
      }),
      { seed: 7, numRuns: 60 },
    );
  });

  it('keeps its state as JSON, bit for bit, and does not change the one it was given', () => {
    fc.assert(
      fc.property(steps, (history) => {
        let before: { state: Json; text: string } | undefined;
        live(history, (state) => {
          if (before !== undefined) expect(JSON.stringify(before.state)).toBe(before.text);
          const text = JSON.stringify(state);
          const kept = JSON.parse(text) as Json;
          expect(kept).toStrictEqual(state);
          expect(policy.restore(kept)).toStrictEqual(state);
          expect(kept).toMatchObject({ schema: 1, policy: name });
          before = { state, text };
        });
      }),
      { seed: 8, numRuns: 60 },
    );
  });

  it('answers with what arrived, and a missing prediction never raises confidence', () => {
    const outputs = fc.array(fc.constantFrom('yes', 'no', 'other', null), { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(steps, outputs, (history, answered) => {
        live(history, (state) => {
          const { arms } = policy.select(state, new KeyedDraw(9).of('q'));
          const arrived = predictionsOf(arms, answered);
          const whole = policy.combine(state, arms, arrived);
          expect(whole.confidence >= 0 && whole.confidence <= 1).toBe(true);
          if (arrived.length === 0) expect(whole).toEqual({ output: undefined, confidence: 0 });
          else expect(arrived.map(({ output }) => output)).toContain(whole.output);
          // The order of arrival says nothing.
          expect(policy.combine(state, arms, [...arrived].reverse())).toEqual(whole);
          const missing = arrived.findIndex(({ output }) => output === whole.output);
          if (missing < 0) return;
          const fewer = policy.combine(
            state,
            arms,
            arrived.filter((_, at) => at !== missing),
          );
          if (fewer.output === whole.output) expect(fewer.confidence).toBeLessThan(whole.confidence);
          else expect(fewer.confidence).toBeLessThanOrEqual(whole.confidence + 1e-9);
        });
      }),
      { seed: 10, numRuns: 60 },
    );
  });

  it('keeps what it has learned of arms that stay, in whatever order they are linked', () => {
    fc.assert(
      fc.property(steps, fc.shuffledSubarray(ALL, { minLength: 5 }), (history, order) => {
        const learned = live(
          history.filter(({ kind }) => kind === 'feedback'),
          () => undefined,
        );
        const shares = policy.shares(policy.reconcile(learned, order));
        // The first of those answers for all.
        if (!['static', 'shadow', 'cascade'].includes(name)) {
          for (const [arm, share] of policy.shares(learned)) {
            // An epsilon goes to the leader, who is the first among equals.
            if (name !== 'epsilonGreedy') expect(shares.get(arm)).toBeCloseTo(share, 9);
          }
        }
        const newcomer = policy.reconcile(policy.reconcile(learned, ALL.slice(1)), ALL);
        expect([...policy.shares(newcomer).keys()]).toEqual(ALL);
      }),
      { seed: 11, numRuns: 60 },
    );
  });

  it('takes other parameters in a state that has learned, and keeps what it has learned', () => {
    const other: Readonly<Record<string, Json>> = {
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
      // Others give the state another shape.
      features: [],
    };
    const parameters = Object.fromEntries(policy.parameters.map((one) => [one, other[one]]));
    fc.assert(
      fc.property(steps, (history) => {
        const learned = live(history, () => undefined) as Record<string, Json>;
        const changed = withParameters(policy, learned, parameters) as Record<string, Json>;
        expect(changed).toEqual({ ...learned, ...parameters });
        expect(withParameters(policy, changed, null)).toEqual(learned);
        expect(withParameters(policy, learned, null)).toBe(learned);
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

    it('gives a context a state of its own making, nothing of nothing, and nothing where it is not to', () => {
      fc.assert(
        fc.property(steps, (history) => {
          live(history, (state, arms) => {
            const text = JSON.stringify(state);
            const began = policy.prior?.(state) as Json;
            expect(JSON.stringify(state)).toBe(text);
            expect(policy.restore(JSON.parse(JSON.stringify(began)) as Json)).toStrictEqual(began);
            expect([...policy.shares(began).keys()]).toEqual(arms);
            expect(withParameters(policy, began, null)).toBe(began);
          });
        }),
        { seed: 13, numRuns: 30 },
      );
      const fresh = policy.init(ALL, null);
      expect(policy.prior?.(fresh)).toEqual(fresh);
      expect(policy.prior?.(policy.init(ALL, { prior: 0 }))).toBeUndefined();
      expect(() => checkPolicy(name, { prior: -1 })).toThrow(/^prior must be a number from 0 to 1000000/);
      // States of programs before there was one.
      const { prior: _, ...older } = fresh as Record<string, Json>;
      expect(policy.restore(older)).toEqual(fresh);
    });
  }

  it.each<[Json]>([
    [null],
    [3],
    ['x'],
    [[]],
    [{}],
    [{ schema: 99 }],
    [{ schema: 1, policy: name, arms: [1] }],
  ])('refuses %j as a state', (value) => {
    expect(() => policy.restore(value)).toThrow(PolicyError);
  });

  it("refuses another policy's state, and its own when it was damaged", () => {
    for (const other of POLICY_NAMES) {
      if (other === name) continue;
      expect(() => policy.restore(policyNamed(other).init(ALL, null))).toThrow(PolicyError);
    }
    const whole = policy.init(ALL, null) as Record<string, Json>;
    for (const field of Object.keys(whole)) {
      // A static policy without a model answers with the first one; an experiment may have any name.
      if (field === 'model' || field === 'experiment') continue;
      expect(() => policy.restore({ ...whole, [field]: 'damaged' })).toThrow(PolicyError);
    }
  });

  it('has nobody to ask without arms', () => {
    const empty = policy.init([], null);
    expect(policy.select(empty, () => 0.5).arms).toEqual([]);
    expect(policy.combine(empty, [], [])).toEqual({ output: undefined, confidence: 0 });
    expect(policy.shares(empty).size).toBe(0);
    const selection = { arms: ['gone'], propensity: 1 };
    const gone = [{ arm: 'gone', output: 'no' }];
    expect(policy.observe(empty, selection, gone, RIGHT)).toEqual(empty);
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
  ]);
});

it('knows its policies by name', () => {
  expect(() => policyNamed('best')).toThrow(
    `there is no policy 'best': choose one of ${POLICY_NAMES.join(', ')}`,
  );
});
