import { normalDraw } from '../normalDraw.js';
import { numberIn, parameterObject } from '../parameters.js';
import { PolicyError, type Json, type SelectionPolicy } from '../policy.js';
import { finite, isRecord } from '../stateShape.js';
import { LINEAR_PARAMETERS, armsFrom, newArms, withOthers, type LinearArms } from './linearArms.js';
import { highestRanked, linearRules } from './linearRules.js';

export const LINTS_SCHEMA = 1;

export type LintsState = {
  readonly schema: typeof LINTS_SCHEMA;
  readonly policy: 'lints';
  /** Standard deviation of a reward around its estimate. */
  readonly v: number;
} & LinearArms;

/** The largest that a reward in [0, 1] can have. */
const DEFAULT_V = 0.5;

/**
 * Thompson sampling for linear rewards (Agrawal and Goyal 2013): the arm with the highest draw of its reward, whose posterior for
 * the query's features x is normal with mean `x' theta` and standard deviation `v sqrt(x' A^-1 x)`. Arms are independent, so that
 * one normal draw of each arm's reward has the distribution that a draw of its whole theta gives it. `forgetting: 1` is the
 * paper's.
 */
export const lintsPolicy: SelectionPolicy<LintsState> = {
  ...linearRules<LintsState>('lints'),
  name: 'lints',
  isPropensityUnknown: true,
  parameters: [...LINEAR_PARAMETERS, 'v'],

  init(arms, parameters) {
    const given = parameterObject('lints', parameters, lintsPolicy.parameters);
    const v = numberIn(given, 'v', 0, 100, DEFAULT_V);
    return { schema: LINTS_SCHEMA, policy: 'lints', v, ...newArms(arms, given) };
  },

  restore(value: Json): LintsState {
    const arms = armsFrom(value);
    if (
      arms === undefined ||
      !isRecord(value) ||
      value.schema !== LINTS_SCHEMA ||
      value.policy !== 'lints' ||
      !finite(value.v)
    ) {
      throw new PolicyError('state', `this is no state of policy 'lints', schema ${LINTS_SCHEMA}`);
    }
    const { v } = value;
    const { features, ridge, forgetting } = arms;
    return { ...lintsPolicy.init(arms.arms, { features, ridge, forgetting, v }), ...arms };
  },

  withParameters(state, fresh) {
    return { ...state, ...withOthers(state, fresh), v: fresh.v };
  },

  select(state, draw, query) {
    const { v } = state;
    return highestRanked(state, query?.features, (mean, width) => mean + v * width * normalDraw(draw));
  },
};
