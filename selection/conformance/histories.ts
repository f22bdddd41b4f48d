import fc from 'fast-check';
import { KeyedDraw } from '../keyedDraw.js';
import type { Arm, ArmOutcome, ArmPrediction, Feedback, Json, SelectionPolicy } from '../policy.js';

/** The arms that policies are held to the rules with. */
export const ALL: readonly Arm[] = ['a', 'b', 'c', 'd', 'e'];
export const RIGHT = { label: 'yes' };

/** Of each arm in turn what it answered; null: nothing arrived. */
export type Outputs = readonly (string | null)[];

/** Something that happens to a state. */
export type Step =
  | { readonly kind: 'feedback'; readonly outputs: Outputs; readonly loss?: number }
  | { readonly kind: 'links'; readonly arms: readonly Arm[] }
  | { readonly kind: 'outcomes'; readonly of: readonly ArmOutcome['kind'][]; readonly latencyMs: number };

export const outputs: fc.Arbitrary<Outputs> = fc.array(fc.constantFrom('yes', 'no', 'other', null), {
  minLength: ALL.length,
  maxLength: ALL.length,
});
const feedbackStep: fc.Arbitrary<Step> = fc.record(
  {
    kind: fc.constant('feedback' as const),
    outputs,
    loss: fc.double({ min: -1, max: 2 }),
  },
  { requiredKeys: ['kind', 'outputs'] },
);
const linksStep: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('links' as const),
  arms: fc.shuffledSubarray([...ALL]),
});
const outcomesStep: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('outcomes' as const),
  of: fc.array(fc.constantFrom('answered', 'failed', 'absent', 'late'), {
    minLength: ALL.length,
    maxLength: ALL.length,
  }),
  latencyMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
});
export const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 9, arbitrary: feedbackStep },
    { weight: 3, arbitrary: outcomesStep },
    { weight: 1, arbitrary: linksStep },
  ),
  { maxLength: 60 },
);

export function predictionsOf(asked: readonly Arm[], answered: Outputs): readonly ArmPrediction[] {
  return asked.flatMap((arm) => {
    const output = answered[ALL.indexOf(arm)];
    return output === null || output === undefined ? [] : [{ arm, output }];
  });
}

/** Lives through the steps, and calls back with every state on the way. */
export function live(
  policy: SelectionPolicy,
  parameters: Json,
  history: readonly Step[],
  each: (state: Json, arms: readonly Arm[]) => void = () => undefined,
): Json {
  const draw = new KeyedDraw(3);
  let arms = ALL;
  let state = policy.init(arms, parameters);
  for (const [at, step] of history.entries()) {
    if (step.kind === 'links') {
      arms = step.arms;
      state = policy.reconcile(state, arms);
    } else if (step.kind === 'outcomes') {
      const query = policy.select(state, draw.of(`${at}`)).arms.map((arm) => outcomeOf(arm, step));
      // As many as make a difference.
      const queries = Array.from({ length: 16 }, () => query);
      state = policy.notice?.(state, queries) ?? state;
    } else {
      const selection = policy.select(state, draw.of(`${at}`));
      const feedback: Feedback = step.loss === undefined ? RIGHT : { ...RIGHT, loss: step.loss };
      state = policy.observe(state, selection, predictionsOf(selection.arms, step.outputs), feedback);
    }
    each(state, arms);
  }
  return state;
}

function outcomeOf(arm: Arm, { of, latencyMs }: Extract<Step, { kind: 'outcomes' }>): ArmOutcome {
  const kind = of[ALL.indexOf(arm)];
  return kind === 'answered' ? { arm, kind, latencyMs, isCached: false } : { arm, kind };
}
