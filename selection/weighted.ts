import { lossInVote } from './exp4.js';
import { distinctArms, parameterObject, shareFrom } from './parameters.js';
import {
  PolicyError,
  type Arm,
  type Combination,
  type Json,
  type Selection,
  type SelectionPolicy,
} from './policy.js';
import { priorFrom, priorTally } from './prior.js';
import { finite, isRecord } from './stateShape.js';
import { carriedTally, emptyTally, keptShare, memoryFrom, PRIOR_FEEDBACKS, tallyFrom } from './tally.js';
import { vote, voteShares } from './votes.js';

export const WEIGHTED_SCHEMA = 1;

export type WeightedState = {
  readonly schema: typeof WEIGHTED_SCHEMA;
  readonly policy: 'weighted';
  readonly memory: number | null;
  /** Feedbacks that the application's state counts for in a new context. */
  readonly prior: number;
  /** No output below this confidence. */
  readonly threshold: number;
  readonly arms: readonly Arm[];
  readonly judged: readonly number[];
  readonly rewarded: readonly number[];
};

/**
 * Every model is asked, and votes with the weight of its learned accuracy: `-ln(error)`, its error estimated
 * as (wrong + 1) / (judged + 2). That is nearly the log-odds of a good model, the best weight of an independent voter, and small but
 * never negative for one that is mostly wrong. Unlike in exp4 a better model never silences the others.
 */
export const weightedPolicy: SelectionPolicy<WeightedState> = {
  name: 'weighted',
  parameters: ['memory', 'prior', 'threshold'],

  init(arms, parameters) {
    const given = parameterObject('weighted', parameters, weightedPolicy.parameters);
    return {
      schema: WEIGHTED_SCHEMA,
      policy: 'weighted',
      threshold: shareFrom(given, 'threshold', 0),
      prior: priorFrom(given, PRIOR_FEEDBACKS),
      ...emptyTally(distinctArms(arms), memoryFrom(given)),
    };
  },

  restore(value: Json): WeightedState {
    const tally = tallyFrom(value);
    if (
      tally === undefined ||
      !isRecord(value) ||
      value.schema !== WEIGHTED_SCHEMA ||
      value.policy !== 'weighted' ||
      !finite(value.threshold)
    ) {
      throw new PolicyError('state', `this is no state of policy 'weighted', schema ${WEIGHTED_SCHEMA}`);
    }
    const { threshold, prior } = value;
    return { ...weightedPolicy.init(tally.arms, { threshold, memory: tally.memory, prior }), ...tally };
  },

  reconcile(state, arms) {
    return { ...state, ...carriedTally(state, distinctArms(arms)) };
  },

  select(state): Selection {
    return { arms: state.arms, propensity: 1 };
  },

  combine(state, asked, arrived): Combination {
    return vote(asked, arrived, state.arms, weightsOf(state), state.threshold);
  },

  /** A model that gave no prediction was not judged: what is known of it stays. */
  observe(state, _selection, predictions, feedback) {
    const { schema, policy, memory, prior, threshold, arms } = state;
    const keep = keptShare(state);
    const judged = [...state.judged];
    const rewarded = [...state.rewarded];
    let learned = false;
    for (let at = 0; at < arms.length; at++) {
      const loss = lossInVote(arms[at], predictions, feedback);
      if (loss === undefined) continue;
      learned = true;
      judged[at] = judged[at] * keep + 1;
      rewarded[at] = rewarded[at] * keep + 1 - loss;
    }
    return learned ? { schema, policy, memory, prior, threshold, arms, judged, rewarded } : state;
  },

  prior(own) {
    return own.prior === 0 ? undefined : { ...own, ...priorTally(own, own.prior) };
  },

  shares(state) {
    return voteShares(state.arms, weightsOf(state));
  },
};

function weightsOf({ judged, rewarded }: WeightedState): number[] {
  return judged.map((count, at) => -Math.log((Math.max(0, count - rewarded[at]) + 1) / (count + 2)));
}
