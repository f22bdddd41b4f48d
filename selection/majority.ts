import { distinctArms, parameterObject, shareFrom } from './parameters.js';
import {
  PolicyError,
  type Arm,
  type Combination,
  type Json,
  type Selection,
  type SelectionPolicy,
} from './policy.js';
import { finite, isRecord, stringList } from './stateShape.js';
import { vote, voteShares } from './votes.js';

export const MAJORITY_SCHEMA = 1;

export type MajorityState = {
  readonly schema: typeof MAJORITY_SCHEMA;
  readonly policy: 'majority';
  /** No output below this confidence. */
  readonly threshold: number;
  readonly arms: readonly Arm[];
};

/** Every model is asked and has one vote; feedback changes nothing. Confidence is the share of models that agree. */
export const majorityPolicy: SelectionPolicy<MajorityState> = {
  name: 'majority',
  parameters: ['threshold'],

  init(arms, parameters) {
    const given = parameterObject('majority', parameters, majorityPolicy.parameters);
    return {
      schema: MAJORITY_SCHEMA,
      policy: 'majority',
      threshold: shareFrom(given, 'threshold', 0),
      arms: distinctArms(arms),
    };
  },

  restore(value: Json): MajorityState {
    if (
      !isRecord(value) ||
      value.schema !== MAJORITY_SCHEMA ||
      value.policy !== 'majority' ||
      !stringList(value.arms) ||
      !finite(value.threshold)
    ) {
      throw new PolicyError('state', `this is no state of policy 'majority', schema ${MAJORITY_SCHEMA}`);
    }
    return majorityPolicy.init(value.arms, { threshold: value.threshold });
  },

  reconcile(state, arms) {
    return { ...state, arms: distinctArms(arms) };
  },

  select(state): Selection {
    return { arms: state.arms, propensity: 1 };
  },

  combine(state, asked, arrived): Combination {
    return vote(asked, arrived, state.arms, equalVotes(state), state.threshold);
  },

  observe(state) {
    return state;
  },

  shares(state) {
    return voteShares(state.arms, equalVotes(state));
  },
};

function equalVotes(state: MajorityState): number[] {
  return state.arms.map(() => 1);
}
