import { measuredLoss } from './loss.js';
import { carriedWeights, settled, weightSum } from './logWeights.js';
import { distinctArms, numberIn, numberOrNull, parameterObject, shareFrom } from './parameters.js';
import {
  PolicyError,
  type Arm,
  type ArmPrediction,
  type Combination,
  type Feedback,
  type Json,
  type Selection,
  type SelectionPolicy,
} from './policy.js';
import { priorFrom, priorWeights } from './prior.js';
import { finite, isRecord, numberList, stringList } from './stateShape.js';
import { answerOf, vote, voteShares } from './votes.js';
import { sameOutput } from './sameOutput.js';

export const EXP4_SCHEMA = 1;

export type Exp4State = {
  readonly schema: typeof EXP4_SCHEMA;
  readonly policy: 'exp4';
  /** How fast feedback moves the weights. */
  readonly eta: number;
  /** A loss that is so many feedbacks old counts 1/e of a new one; null: all count alike for ever. */
  readonly memory: number | null;
  /** The smallest weight, as a share of the leader's. */
  readonly floor: number;
  /** Feedbacks that the application's state counts for in a new context. */
  readonly prior: number;
  /** No output below this confidence. */
  readonly threshold: number;
  readonly arms: readonly Arm[];
  /** As in exp3. */
  readonly logWeights: readonly number[];
};

/**
 * Weights settle at exp(-eta * memory * error) then: a model that errs 0.1 more often has 0.6 times the weight of the other and is still heard,
 * one that fails all the time has 0.01 times. Best of a grid in the model failure experiment; without a memory the best
 * model soon outvotes all others together, and the ensemble is no better than it (error 0.24 in place of 0.21).
 */
const DEFAULT_ETA = 0.05;
const DEFAULT_MEMORY = 100;
const DEFAULT_FLOOR = 1e-3;
/** A vote of many is best where their weights are about alike: more makes new users' answers worse, not better. */
const DEFAULT_PRIOR = 5;

/**
 * The ensemble policy of Clipper 5.2: every model is asked, the answer is their weighted vote, and feedback multiplies the
 * weight of each model by `exp(-eta * loss)`, its own loss: all of them answered, so there is nothing to estimate. Old losses
 * are discounted by `memory`; `memory: null` is Exp4's weights as the paper has them.
 *
 * A model whose prediction is missing has the average loss of the others, their mixed loss `-ln(sum(q exp(-eta loss))) / eta`
 * with q their weights: its share stays what it was. Without a loss it would gain on those that answered.
 */
export const exp4Policy: SelectionPolicy<Exp4State> = {
  name: 'exp4',
  parameters: ['eta', 'memory', 'floor', 'threshold', 'prior'],

  init(arms, parameters) {
    const given = parameterObject('exp4', parameters, exp4Policy.parameters);
    const distinct = distinctArms(arms);
    return {
      schema: EXP4_SCHEMA,
      policy: 'exp4',
      eta: numberIn(given, 'eta', 0, 10, DEFAULT_ETA),
      memory: numberOrNull(given, 'memory', DEFAULT_MEMORY),
      floor: numberIn(given, 'floor', 0, 1, DEFAULT_FLOOR),
      threshold: shareFrom(given, 'threshold', 0),
      prior: priorFrom(given, DEFAULT_PRIOR),
      arms: distinct,
      logWeights: distinct.map(() => 0),
    };
  },

  restore(value: Json): Exp4State {
    if (
      !isRecord(value) ||
      value.schema !== EXP4_SCHEMA ||
      value.policy !== 'exp4' ||
      !stringList(value.arms) ||
      !numberList(value.logWeights) ||
      value.logWeights.length !== value.arms.length ||
      !finite(value.eta) ||
      !(value.memory === null || finite(value.memory)) ||
      !finite(value.floor) ||
      !finite(value.threshold)
    ) {
      throw new PolicyError('state', `this is no state of policy 'exp4', schema ${EXP4_SCHEMA}`);
    }
    const { eta, memory, floor, threshold, prior } = value;
    const fresh = exp4Policy.init(value.arms, { eta, memory, floor, threshold, prior });
    return { ...fresh, logWeights: settled([...value.logWeights], floor) };
  },

  reconcile(state, arms) {
    const distinct = distinctArms(arms);
    const logWeights = carriedWeights(state.arms, state.logWeights, distinct);
    return { ...state, arms: distinct, logWeights: settled(logWeights, state.floor) };
  },

  select(state): Selection {
    return { arms: state.arms, propensity: 1 };
  },

  combine(state, asked, arrived): Combination {
    return vote(asked, arrived, state.arms, state.logWeights.map(Math.exp), state.threshold);
  },

  observe(state, _selection, predictions, feedback) {
    const { arms, eta, memory } = state;
    const keep = memory === null ? 1 : 1 - 1 / memory;
    const losses = arms.map((arm) => lossInVote(arm, predictions, feedback));
    const judged = arms.map((_, at) => at).filter((at) => losses[at] !== undefined);
    if (judged.length === 0) return state;
    const logWeights = arms.map((_, at) => {
      const loss = losses[at];
      return loss === undefined ? state.logWeights[at] : state.logWeights[at] * keep - eta * loss;
    });
    if (judged.length < arms.length) {
      const before = weightSum(judged.map((at) => state.logWeights[at]));
      const after = weightSum(judged.map((at) => logWeights[at]));
      const mixed = Math.log(after / before);
      for (let at = 0; at < arms.length; at++) if (losses[at] === undefined) logWeights[at] += mixed;
    }
    return {
      schema: EXP4_SCHEMA,
      policy: 'exp4',
      eta,
      memory,
      floor: state.floor,
      threshold: state.threshold,
      prior: state.prior,
      arms,
      logWeights: settled(logWeights, state.floor),
    };
  },

  prior(own) {
    if (own.prior === 0) return undefined;
    return { ...own, logWeights: priorWeights(own.logWeights, own.eta * own.prior, own.floor) };
  },

  shares(state) {
    return voteShares(state.arms, state.logWeights.map(Math.exp));
  },
};

/**
 * The loss of one voter: what was measured of it, otherwise 0 when it gave the label and 1 when not, undefined when it gave nothing, unless it was late at a price. A loss that the application
 * measured is that of the answer it got, and says nothing of the voters that answered otherwise.
 */
export function lossInVote(
  arm: Arm,
  predictions: readonly ArmPrediction[],
  feedback: Feedback,
): number | undefined {
  const prediction = answerOf(arm, predictions);
  const isLate = feedback.late?.includes(arm) === true;
  if (prediction === undefined && !isLate) return undefined;
  return measuredLoss(arm, feedback) ?? (sameOutput(prediction?.output ?? '', feedback.label) ? 0 : 1);
}
