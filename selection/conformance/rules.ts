import fc from 'fast-check';
import { KeyedDraw } from '../keyedDraw.js';
import { POLICY_NAMES, policyNamed, withParameters } from '../policies.js';
import { PolicyError, type Json, type SelectionPolicy } from '../policy.js';
import { isRecord } from '../stateShape.js';
import { expect, expectRefusal, expectSame, isNear, shown } from './expectations.js';
import { ALL, live, outputs, predictionsOf, RIGHT, steps, type Outputs, type Step } from './histories.js';

/** A policy, and parameters to hold it to the rules with. */
export interface Examinee {
  readonly policy: SelectionPolicy;
  /** null: its defaults. */
  readonly parameters: Json;
  /** Others that it takes; the same: it takes no others. */
  readonly otherParameters: Json;
}

/** What every policy owes, whichever it is. */
export interface Rule {
  readonly name: string;
  /** What to do where a policy does not keep it. */
  readonly fix: string;
  /**
   * A property of what fast-check draws.
   * @param attempt runs each check
   * @throws BrokenRule, or whatever the policy throws
   */
  readonly property: (examinee: Examinee, attempt: (check: () => void) => void) => fc.IProperty<never[]>;
  readonly seed: number;
  readonly runs: number;
}

/** Beside them those of policies that differ in their kind: what it does when it escalates, notices, looks at features. */
export const RULES: readonly Rule[] = [
  rule({
    name: 'shares are from 0 to 1, of exactly the linked models in their order, and add up to one',
    fix: 'let `shares` divide by the sum of what it divides, and begin from even shares; `reconcile` gives the order',
    seed: 5,
    drawn: [steps],
    check: ({ policy, parameters }, history) => {
      live(policy, parameters, history, (state, arms) => expectShares(policy, state, arms));
    },
  }),
  rule({
    name: 'select names linked models only, each once, somebody where there is anybody, and a propensity above 0 and at most 1',
    fix: 'take arms from the state that `reconcile` has made, and give the probability with which the choice was drawn; 1 where nothing was drawn',
    seed: 6,
    drawn: [steps, fc.string()],
    check: ({ policy, parameters }, history, key) => {
      live(policy, parameters, history, (state, arms) => expectSelection(policy, state, arms, key));
    },
  }),
  rule({
    name: 'select draws by the query alone: what was drawn before changes nothing',
    fix: 'draw with `draw()` alone, and keep nothing outside the state: no Math.random, no variables of the module',
    seed: 7,
    drawn: [steps, fc.array(fc.string(), { maxLength: 20 }), fc.string()],
    check: ({ policy, parameters }, history, before, key) => {
      const state = live(policy, parameters, history);
      const fresh = policy.select(state, new KeyedDraw(9).of(key));
      const used = new KeyedDraw(9);
      for (const other of before) policy.select(state, used.of(other));
      expectSame('the same query again', policy.select(state, used.of(key)), fresh);
    },
  }),
  rule({
    name: 'a state is plain JSON, comes back from the store bit for bit, and is not changed once it was given',
    fix: 'return a new state in place of changing the one that came, of objects, lists, texts, finite numbers, booleans and null alone; `restore` returns what `observe` has made, with its `schema` (1) and `policy` (its name)',
    seed: 8,
    drawn: [steps],
    check: ({ policy, parameters }, history) => {
      let before: { readonly state: Json; readonly text: string } | undefined;
      live(policy, parameters, history, (state) => {
        if (before !== undefined)
          expect(
            JSON.stringify(before.state) === before.text,
            () => 'the state that was given to `observe` or `reconcile` was changed',
          );
        const text = JSON.stringify(state);
        const kept = JSON.parse(text) as Json;
        expectSame('the state as JSON', kept, state);
        expectSame('the restored state', policy.restore(kept), state);
        expect(
          isRecord(kept) && kept.schema === 1 && kept.policy === policy.name,
          () => `a state begins with {"schema": 1, "policy": "${policy.name}"}, this is ${shown(state)}`,
        );
        before = { state, text };
      });
    },
  }),
  rule({
    name: 'combine answers with what arrived, whatever came first; nothing from nothing; a missing prediction never raises confidence',
    fix: 'give a confidence from 0 to 1 that counts all of `asked`, and look for predictions by their `arm`; leave `combine` out where the answer is that of the one model that was asked',
    seed: 10,
    drawn: [steps, outputs],
    check: ({ policy, parameters }, history, answered) => {
      live(policy, parameters, history, (state) => expectCombination(policy, state, answered));
    },
  }),
  rule({
    name: 'what was learned of models that stay is kept, in whatever order they are linked',
    fix: 'let `reconcile` carry what belongs to each arm by its name, and begin anew for arms alone that it does not know',
    seed: 11,
    drawn: [steps, fc.shuffledSubarray([...ALL], { minLength: ALL.length })],
    check: ({ policy, parameters }, history, order) => {
      const learned = live(
        policy,
        parameters,
        history.filter(({ kind }) => kind === 'feedback'),
      );
      const there = policy.reconcile(learned, order);
      expectSame('the models', [...policy.shares(there).keys()], order);
      expectSame('the state after another order and back', policy.reconcile(there, ALL), learned);
      const newcomer = policy.reconcile(policy.reconcile(learned, ALL.slice(1)), ALL);
      expectShares(policy, newcomer, ALL);
    },
  }),
  rule({
    name: 'other parameters take their place in a state that has learned, and what it has learned stays',
    fix: 'each name in `parameters` is a member of the state, too; where others give the state another shape, `withParameters` makes it',
    seed: 12,
    runs: 30,
    drawn: [steps],
    check: ({ policy, parameters, otherParameters }, history) => {
      const learned = live(policy, parameters, history);
      expect(
        withParameters(policy, learned, parameters) === learned,
        () => 'the same parameters have changed the state',
      );
      const changed = withParameters(policy, learned, otherParameters);
      expectSame('the parameters there and back', withParameters(policy, changed, parameters), learned);
    },
  }),
  once('restore refuses what is no state of its own, with a PolicyError', {
    fix: 'check `schema`, `policy` and every member in `restore`, and `throw new PolicyError(field, what is wrong)`',
    check: ({ policy }) => {
      for (const value of [
        null,
        3,
        'x',
        [],
        {},
        { schema: 99 },
        { schema: 1, policy: policy.name, arms: [1] },
      ])
        expectRefusal(`restore(${shown(value)})`, () => policy.restore(value));
      for (const other of POLICY_NAMES) {
        if (other === policy.name) continue;
        const state = policyNamed(other).init(ALL, null);
        expectRefusal(`restore(a state of '${other}')`, () => policy.restore(state));
      }
    },
  }),
  once('a damaged state is refused by restore, or can be used', {
    fix: 'check every member in `restore`: of which type it is, and that lists are as long as `arms`',
    check: ({ policy, parameters }) => {
      const whole = policy.init(ALL, parameters) as Readonly<Record<string, Json>>;
      for (const field of Object.keys(whole)) {
        for (const damage of ['damaged', null, [], { damaged: 1 }]) {
          const what = `with ${field} ${shown(damage)}`;
          let state: Json;
          try {
            state = policy.restore({ ...whole, [field]: damage });
          } catch (error) {
            expect(error instanceof PolicyError, () => `${what}: threw ${String(error)}, no PolicyError`);
            continue;
          }
          expectUsable(policy, state, what);
        }
      }
    },
  }),
  once('without models nobody is asked, and feedback on one that is gone changes nothing', {
    fix: 'an empty list of arms is a state, too: `select` gives no arms, `combine` {output: undefined, confidence: 0}, `shares` an empty map; skip in `observe` what is not among the arms',
    check: ({ policy, parameters }) => {
      const empty = policy.init([], parameters);
      expectSame('select', policy.select(empty, () => 0.5).arms, []);
      expectSame('combine', policy.combine(empty, [], []), { output: undefined, confidence: 0 });
      expectSame('shares', [...policy.shares(empty)], []);
      const gone = [{ arm: 'gone', output: 'no' }];
      const after = policy.observe(empty, { arms: ['gone'], propensity: 1 }, gone, RIGHT);
      expectSame('observe', after, empty);
    },
  }),
  once('init refuses parameters that it does not know, with a PolicyError that names them', {
    fix: '`throw new PolicyError("parameters.NAME", what it takes)` in `init` for names and types that are not its own; null stands for none',
    check: ({ policy }) => {
      for (const parameters of [{ nope: 1 }, 'text', [1], 7])
        expectRefusal(`init([], ${shown(parameters)})`, () => policy.init([], parameters));
      policy.init([], null);
    },
  }),
  rule({
    name: 'prior gives a context a state of its own making, of the same models, and leaves the state of the application as it was',
    fix: 'return a new state that `restore` takes, with the same arms and parameters; undefined: contexts begin with nothing',
    seed: 13,
    runs: 30,
    drawn: [steps],
    check: ({ policy, parameters }, history) => {
      if (policy.prior === undefined) return;
      live(policy, parameters, history, (state, arms) => {
        const text = JSON.stringify(state);
        const began = policy.prior?.(state);
        expect(JSON.stringify(state) === text, () => 'the state that was given to `prior` was changed');
        if (began === undefined) return;
        expectSame('the restored state', policy.restore(JSON.parse(JSON.stringify(began)) as Json), began);
        expectShares(policy, began, arms);
        expectSame('its parameters', withParameters(policy, began, parameters), began);
      });
    },
  }),
  rule({
    name: 'escalate names a linked model that was not asked, or nobody',
    fix: 'return undefined once all arms are in `asked`',
    seed: 13,
    drawn: [steps, outputs],
    check: ({ policy, parameters }, history, answered) => {
      if (policy.escalate === undefined) return;
      live(policy, parameters, history, (state, arms) => {
        const asked = [...policy.select(state, new KeyedDraw(9).of('q')).arms];
        while (asked.length <= arms.length) {
          const next = policy.escalate?.(state, asked, predictionsOf(asked, answered));
          if (next === undefined) return;
          expect(
            arms.includes(next) && !asked.includes(next),
            () => `linked are ${shown(arms)}, asked ${shown(asked)}, and it names ${shown(next)}`,
          );
          asked.push(next);
        }
      });
    },
  }),
];

/** @throws BrokenRule */
function expectShares(policy: SelectionPolicy, state: Json, arms: readonly string[]): void {
  const shares = policy.shares(state);
  expectSame('the models that have shares', [...shares.keys()], arms);
  let total = 0;
  for (const [arm, share] of shares) {
    expect(share >= 0 && share <= 1 + 1e-12, () => `the share of '${arm}' is ${share}`);
    total += share;
  }
  expect(isNear(total, arms.length === 0 ? 0 : 1), () => `the shares add up to ${total}`);
}

/** @throws BrokenRule */
function expectSelection(policy: SelectionPolicy, state: Json, arms: readonly string[], key: string): void {
  const { arms: asked, shadows = [], propensity } = policy.select(state, new KeyedDraw(9).of(key));
  const all = [...asked, ...shadows];
  expect(new Set(all).size === all.length, () => `a model is asked twice: ${shown(all)}`);
  for (const arm of all)
    expect(arms.includes(arm), () => `'${arm}' is not linked: linked are ${shown(arms)}`);
  expect(asked.length > 0 === arms.length > 0, () => `${shown(asked)} are asked of ${shown(arms)}`);
  expect(propensity > 0 && propensity <= 1 + 1e-12, () => `the propensity is ${propensity}`);
}

/** @throws BrokenRule */
function expectCombination(policy: SelectionPolicy, state: Json, answered: Outputs): void {
  const { arms } = policy.select(state, new KeyedDraw(9).of('q'));
  const arrived = predictionsOf(arms, answered);
  const whole = policy.combine(state, arms, arrived);
  const { confidence } = whole;
  expect(confidence >= 0 && confidence <= 1, () => `the confidence is ${confidence}`);
  if (arrived.length === 0) expectSame('of nothing', whole, { output: undefined, confidence: 0 });
  expectSame('arrived the other way round', policy.combine(state, arms, [...arrived].reverse()), whole);
  const missing = arrived.findIndex(({ output }) => output === whole.output);
  if (missing < 0) return;
  const rest = arrived.filter((_, at) => at !== missing);
  const fewer = policy.combine(state, arms, rest);
  const most = fewer.output === whole.output ? confidence : confidence + 1e-9;
  expect(
    fewer.output === whole.output ? fewer.confidence < most : fewer.confidence <= most,
    () =>
      `with one of ${shown(arrived)} missing the confidence is ${fewer.confidence}, and was ${confidence}`,
  );
}

/** @throws BrokenRule */
function expectUsable(policy: SelectionPolicy, state: Json, what: string): void {
  try {
    const shares = policy.shares(state);
    for (const [arm, share] of shares)
      expect(share >= 0 && share <= 1 + 1e-12, () => `the share of '${arm}' is ${share}`);
    const selection = policy.select(state, () => 0.5);
    // It may name a model that is not there, and then asks nobody.
    for (const arm of selection.arms)
      expect(shares.has(arm), () => `it asks '${arm}', which it does not have`);
    policy.observe(state, selection, [], RIGHT);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${what}: restore has taken it, and then: ${reason}`, { cause: error });
  }
}

interface DrawnRule<T extends readonly unknown[]> {
  readonly name: string;
  readonly fix: string;
  readonly seed: number;
  readonly runs?: number;
  readonly drawn: { readonly [K in keyof T]: fc.Arbitrary<T[K]> };
  readonly check: (examinee: Examinee, ...drawn: T) => void;
}

function rule<T extends readonly [readonly Step[], ...unknown[]]>({
  name,
  fix,
  seed,
  runs = 60,
  drawn,
  check,
}: DrawnRule<T>): Rule {
  const property: Rule['property'] = (examinee, attempt) =>
    fc.property(fc.tuple(...(drawn as readonly fc.Arbitrary<unknown>[])), (values) =>
      attempt(() => check(examinee, ...(values as unknown as T))),
    ) as unknown as fc.IProperty<never[]>;
  return { name, fix, seed, runs, property };
}

/** One that draws nothing. */
function once(
  name: string,
  { fix, check }: { readonly fix: string; readonly check: (examinee: Examinee) => void },
): Rule {
  const property: Rule['property'] = (examinee, attempt) =>
    fc.property(fc.constant(null), () => attempt(() => check(examinee))) as unknown as fc.IProperty<never[]>;
  return { name, fix, seed: 1, runs: 1, property };
}
