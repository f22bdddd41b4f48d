import { lossInVote } from './exp4.js';
import { lossOf } from './loss.js';
import { distinctArms, optionalName, parameterObject } from './parameters.js';
import {
  PolicyError,
  type Arm,
  type Combination,
  type Json,
  type Selection,
  type SelectionPolicy,
} from './policy.js';
import { sameOutput } from './sameOutput.js';
import { finite, isRecord } from './stateShape.js';
import { single } from './static.js';
import { afterJudging, carriedTally, emptyTally, isJudgedApart, tallyFrom } from './tally.js';
import { answerOf } from './votes.js';

export const SHADOW_SCHEMA = 1;

export type ShadowState = {
  readonly schema: typeof SHADOW_SCHEMA;
  readonly policy: 'shadow';
  /** The model that answers; null: the one that was linked first. */
  readonly model: Arm | null;
  readonly arms: readonly Arm[];
  readonly judged: readonly number[];
  readonly rewarded: readonly number[];
  readonly memory: null;
  /** Feedbacks for which a shadow had answered, and in how many of them as the model did. */
  readonly compared: number;
  readonly agreed: number;
};

/**
 * One model answers, as with `static`; all other linked ones are asked as well, as its shadows. What feedback says of each is
 * counted.
 */
export const shadowPolicy: SelectionPolicy<ShadowState> = {
  name: 'shadow',
  isShared: true,
  parameters: ['model'],

  init(arms, parameters) {
    const model = optionalName(parameterObject('shadow', parameters, shadowPolicy.parameters), 'model');
    const { arms: distinct, judged, rewarded } = emptyTally(distinctArms(arms), null);
    const counts = { judged, rewarded, memory: null, compared: 0, agreed: 0 };
    return { schema: SHADOW_SCHEMA, policy: 'shadow', model, arms: distinct, ...counts };
  },

  restore(value: Json): ShadowState {
    const tally = tallyFrom(value);
    if (
      tally === undefined ||
      !isRecord(value) ||
      value.schema !== SHADOW_SCHEMA ||
      value.policy !== 'shadow' ||
      !finite(value.compared) ||
      !finite(value.agreed)
    ) {
      throw new PolicyError('state', `this is no state of policy 'shadow', schema ${SHADOW_SCHEMA}`);
    }
    const { model, compared, agreed } = value;
    const { judged, rewarded } = tally;
    return { ...shadowPolicy.init(tally.arms, { model }), judged, rewarded, compared, agreed };
  },

  reconcile(state, arms) {
    const { arms: carried, judged, rewarded } = carriedTally(state, distinctArms(arms));
    return { ...state, arms: carried, judged, rewarded };
  },

  select(state): Selection {
    const served = servedOf(state);
    if (served === undefined) return { arms: [], propensity: 1 };
    return { arms: [served], shadows: state.arms.filter((arm) => arm !== served), propensity: 1 };
  },

  combine(_state, asked, arrived): Combination {
    return single(asked, arrived);
  },

  /** A loss that the application measured is that of the answer; a shadow is judged by its own. */
  observe(state, { arms: [served], shadows = [] }, predictions, feedback) {
    let { compared, agreed } = state;
    const answer = answerOf(served, predictions);
    const losses: (readonly [Arm, number | undefined])[] = [];
    if (state.arms.includes(served)) losses.push([served, lossOf(served, predictions, feedback)]);
    for (const arm of shadows) {
      const shadow = answerOf(arm, predictions);
      if (shadow === undefined || !state.arms.includes(arm)) continue;
      if (isJudgedApart(arm, feedback)) losses.push([arm, lossInVote(arm, predictions, feedback)]);
      if (answer === undefined) continue;
      compared += 1;
      if (sameOutput(shadow.output, answer.output)) agreed += 1;
    }
    if (state.arms.length === 0) return state;
    return { ...state, ...afterJudging(state, losses), compared, agreed };
  },

  shares(state) {
    const served = servedOf(state);
    return new Map(state.arms.map((arm) => [arm, arm === served ? 1 : 0]));
  },
};

function servedOf({ model, arms }: ShadowState): Arm | undefined {
  if (model === null) return arms[0];
  return arms.includes(model) ? model : undefined;
}
