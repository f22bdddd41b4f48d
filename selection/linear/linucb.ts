import { distinctArms, numberIn, parameterObject } from '../parameters.js';
import { PolicyError, type Combination, type Json, type Selection, type SelectionPolicy } from '../policy.js';
import { finite, isRecord } from '../stateShape.js';
import { single } from '../static.js';
import {
  LINEAR_PARAMETERS,
  afterServing,
  armsFrom,
  carriedArms,
  eachEstimate,
  faultOf,
  judgedShares,
  newArms,
  withOthers,
  type LinearArms,
} from './linearArms.js';

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

  reconcile(state, arms) {
    return { ...state, ...carriedArms(state, distinctArms(arms)) };
  },

  withParameters(state, fresh) {
    return { ...state, ...withOthers(state, fresh), alpha: fresh.alpha };
  },

  featureFault(state, features) {
    return faultOf('linucb', state, features);
  },

  select(state, _draw, query): Selection {
    const { arms, alpha } = state;
    let best = -1;
    let most = -Infinity;
    eachEstimate(state, query?.features, (mean, width, at) => {
      const bound = mean + alpha * width;
      if (bound > most) {
        most = bound;
        best = at;
      }
    });
    return { arms: best < 0 ? [] : [arms[best]], propensity: 1 };
  },

  combine(_state, asked, arrived): Combination {
    return single(asked, arrived);
  },

  observe(state, selection, predictions, feedback, query) {
    const arms = afterServing(state, selection, predictions, feedback, query?.features);
    return arms === undefined ? state : { ...state, ...arms };
  },

  /** The next choice depends on a query's features: the share of the feedback that each arm has had. */
  shares: judgedShares,
};
