import { distinctArms, optionalName, parameterObject } from './parameters.js';
import type { Arm, ArmPrediction, Combination, Selection, SelectionPolicy } from './policy.js';
import { isRecord, stringList } from './stateShape.js';
import { PolicyError, type Json } from './policy.js';

export const STATIC_SCHEMA = 1;

export type StaticState = {
  readonly schema: typeof STATIC_SCHEMA;
  readonly policy: 'static';
  readonly arms: readonly Arm[];
  /** The model that answers; null: the one that was linked first. */
  readonly model: Arm | null;
};

const NOTHING: Combination = { output: undefined, confidence: 0 };

/**
 * Always the same model: parameter `model`, or the first linked one. A named model that is not linked leaves nobody to
 * ask: another one answering in its place would hide the mistake.
 */
export const staticPolicy: SelectionPolicy<StaticState> = {
  name: 'static',
  parameters: ['model'],

  init(arms, parameters) {
    const model = optionalName(parameterObject('static', parameters, staticPolicy.parameters), 'model');
    return { schema: STATIC_SCHEMA, policy: 'static', arms: distinctArms(arms), model };
  },

  restore(value: Json): StaticState {
    if (
      !isRecord(value) ||
      value.schema !== STATIC_SCHEMA ||
      value.policy !== 'static' ||
      !stringList(value.arms)
    ) {
      throw new PolicyError('state', `this is no state of policy 'static', schema ${STATIC_SCHEMA}`);
    }
    const model = typeof value.model === 'string' ? value.model : null;
    return { schema: STATIC_SCHEMA, policy: 'static', arms: distinctArms(value.arms), model };
  },

  reconcile(state, arms) {
    return { ...state, arms: distinctArms(arms) };
  },

  select(state): Selection {
    const arm = served(state);
    return { arms: arm === undefined ? [] : [arm], propensity: 1 };
  },

  combine(_state, asked, arrived): Combination {
    return single(asked, arrived);
  },

  observe(state) {
    return state;
  },

  shares(state) {
    const arm = served(state);
    return new Map(state.arms.map((name) => [name, name === arm ? 1 : 0]));
  },
};

/** The answer of the one arm that was asked. */
export function single(asked: readonly Arm[], arrived: readonly ArmPrediction[]): Combination {
  for (const prediction of arrived) {
    if (prediction.arm === asked[0]) return { output: prediction.output, confidence: 1 };
  }
  return NOTHING;
}

function served(state: StaticState): Arm | undefined {
  if (state.model === null) return state.arms[0];
  return state.arms.includes(state.model) ? state.model : undefined;
}
