import { carriedWeights, drawShares, drawnArm, settled, weightSum } from './logWeights.js';
import { lossOf } from './loss.js';
import { distinctArms, numberIn, parameterObject } from './parameters.js';
import {
  PolicyError,
  type Arm,
  type Combination,
  type Json,
  type Selection,
  type SelectionPolicy,
} from './policy.js';
import { priorFrom, priorWeights } from './prior.js';
import { finite, isRecord, numberList, stringList } from './stateShape.js';
import { single } from './static.js';

export const EXP3S_SCHEMA = 1;

export type Exp3sState = {
  readonly schema: typeof EXP3S_SCHEMA;
  readonly policy: 'exp3s';
  /** Share of queries that go to all arms alike; also sets the learning rate, gamma / k. */
  readonly gamma: number;
  /** Share of all weight, times e, that every feedback deals out to all arms alike. */
  readonly alpha: number;
  /** Feedbacks that the application's state counts for in a new context. */
  readonly prior: number;
  readonly arms: readonly Arm[];
  /** As in exp3. */
  readonly logWeights: readonly number[];
};

/**
 * Over 20,000 queries with five arms, best of a grid on stochastic and drifting streams together: a larger alpha follows changes a
 * little sooner and pays for it all the time.
 */
const DEFAULT_GAMMA = 0.1;
const DEFAULT_ALPHA = 1e-5;
/** It learns half as fast as exp3. */
const DEFAULT_PRIOR = 100;
/** Sharing keeps weights above a far higher level; this one only bounds a state that comes from elsewhere. */
const FLOOR = 1e-300;

/**
 * Exp3.S (Auer, Cesa-Bianchi, Freund, Schapire 2002, section 8), for streams whose best arm changes: one model a query, drawn as
 * in Exp3; feedback on the arm that served changes the weights by
 * `w_j <- w_j exp(gamma x_j / k) + (e alpha / k) sum(w)`, where `x` is the reward over the propensity of the draw for that arm and
 * 0 for the others. The shared part lets an arm that was worst for long take the lead within
 * about `ln(k / (e alpha)) k / gamma` rewards' worth of queries.
 */
export const exp3sPolicy: SelectionPolicy<Exp3sState> = {
  name: 'exp3s',
  parameters: ['gamma', 'alpha', 'prior'],

  init(arms, parameters) {
    const given = parameterObject('exp3s', parameters, exp3sPolicy.parameters);
    const distinct = distinctArms(arms);
    return {
      schema: EXP3S_SCHEMA,
      policy: 'exp3s',
      gamma: numberIn(given, 'gamma', 0, 1, DEFAULT_GAMMA),
      alpha: numberIn(given, 'alpha', 0, 1, DEFAULT_ALPHA),
      prior: priorFrom(given, DEFAULT_PRIOR),
      arms: distinct,
      logWeights: distinct.map(() => 0),
    };
  },

  restore(value: Json): Exp3sState {
    if (
      !isRecord(value) ||
      value.schema !== EXP3S_SCHEMA ||
      value.policy !== 'exp3s' ||
      !stringList(value.arms) ||
      !numberList(value.logWeights) ||
      value.logWeights.length !== value.arms.length ||
      !finite(value.gamma) ||
      !finite(value.alpha)
    ) {
      throw new PolicyError('state', `this is no state of policy 'exp3s', schema ${EXP3S_SCHEMA}`);
    }
    const { gamma, alpha, prior } = value;
    const fresh = exp3sPolicy.init(value.arms, { gamma, alpha, prior });
    return { ...fresh, logWeights: settled([...value.logWeights], FLOOR) };
  },

  reconcile(state, arms) {
    const distinct = distinctArms(arms);
    const logWeights = carriedWeights(state.arms, state.logWeights, distinct);
    return { ...state, arms: distinct, logWeights: settled(logWeights, FLOOR) };
  },

  select(state, draw): Selection {
    return drawnArm(state.arms, state.logWeights, state.gamma, draw);
  },

  combine(_state, asked, arrived): Combination {
    return single(asked, arrived);
  },

  observe(state, selection, predictions, feedback) {
    const served = selection.arms[0];
    const at = served === undefined ? -1 : state.arms.indexOf(served);
    if (at < 0 || !(selection.propensity > 0)) return state;
    const reward = 1 - lossOf(served, predictions, feedback);
    const count = state.arms.length;
    const dealt = (Math.E * state.alpha * weightSum(state.logWeights)) / count;
    const logWeights: number[] = [];
    for (let arm = 0; arm < count; arm++) {
      let logWeight = state.logWeights[arm];
      // Above 1 only for a draw among fewer arms than there are now, or by another gamma.
      if (arm === at) logWeight += Math.min(1, (state.gamma * reward) / (selection.propensity * count));
      logWeights.push(Math.log(Math.exp(logWeight) + dealt));
    }
    return {
      schema: EXP3S_SCHEMA,
      policy: 'exp3s',
      gamma: state.gamma,
      alpha: state.alpha,
      prior: state.prior,
      arms: state.arms,
      logWeights: settled(logWeights, FLOOR),
    };
  },

  /** A query moves the weight of an arm by gamma / k times its reward, on average over whom it asks. */
  prior(own) {
    if (own.prior === 0) return undefined;
    const span = (own.gamma * own.prior) / Math.max(1, own.arms.length);
    return { ...own, logWeights: priorWeights(own.logWeights, span, FLOOR) };
  },

  shares(state) {
    return drawShares(state.arms, state.logWeights, state.gamma);
  },
};
