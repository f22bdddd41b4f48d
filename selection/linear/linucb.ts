import { numberIn, parameterObject } from '../parameters.js';
import { PolicyError, type Json, type SelectionPolicy } from '../policy.js';
import { finite, isRecord } from '../stateShape.js';
import { LINEAR_PARAMETERS, armsFrom, newArms, withOthers, type LinearArms } from './linearArms.js';
import { highestRanked, linearRules } from './linearRules.js';

export const LINUCB_SCHEMA = 1;

export type LinucbState = {
  readonly schema: typeof LINUCB_SCHEMA;
  readonly policy: 'linucb';
  /** How many standard deviations the bound is above the estimate. */
  readonly alpha: number;
} & LinearArms;

const DEFAULT_ALPHA = 1;

/**
 * LinUCB with disjoint models (Li, Chu, Langford, Schapire 2010, algorithm 1): the arm with the highest
 * `x' theta + alpha sqrt(x' A^-1 x)` for the query's features x, the first linked among equals. No draw. `forgetting: 1` is the
 * paper's; below 1 old feedback fades (`LinearArms`).
 */
export const linucbPolicy: SelectionPolicy<LinucbState> = {
  ...linearRules<LinucbState>('linucb'),
  name: 'linucb',
  parameters: [...LINEAR_PARAMETERS, 'alpha'],

  init(arms, parameters) {
    const given = parameterObject('linucb', parameters, linucbPolicy.parameters);
    const alpha = numberIn(given, 'alpha', 0, 100, DEFAULT_ALPHA);
    return { schema: LINUCB_SCHEMA, policy: 'linucb', alpha, ...newArms(arms, given) };
  },

  restore(value: Json): LinucbState {
    const arms = armsFrom(value);
    if (
      arms === undefined ||
      !isRecord(value) ||
      value.schema !== LINUCB_SCHEMA ||
      value.policy !== 'linucb' ||
      !finite(value.alpha)
    ) {
      throw new PolicyError('state', `this is no state of policy 'linucb', schema ${LINUCB_SCHEMA}`);
    }
    const { alpha } = value;
    const { features, ridge, forgetting } = arms;
    return { ...linucbPolicy.init(arms.arms, { features, ridge, forgetting, alpha }), ...arms };
  },

  withParameters(state, fresh) {
    return { ...state, ...withOthers(state, fresh), alpha: fresh.alpha };
  },

  select(state, _draw, query) {
    const { alpha } = state;
    return highestRanked(state, query?.features, (mean, width) => mean + alpha * width);
  },
};
