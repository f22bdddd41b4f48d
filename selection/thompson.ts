import { betaDraw } from './betaDraw.js';
import { probabilitiesToLead } from './betaRanking.js';
import { distinctArms, parameterObject } from './parameters.js';
import {
  PolicyError,
  type Arm,
  type Combination,
  type Json,
  type Selection,
  type SelectionPolicy,
} from './policy.js';
import { priorFrom, priorTally } from './prior.js';
import { isRecord } from './stateShape.js';
import { single } from './static.js';
import { afterServing, carriedTally, emptyTally, memoryFrom, PRIOR_FEEDBACKS, tallyFrom } from './tally.js';

export const THOMPSON_SCHEMA = 1;

export type ThompsonState = {
  readonly schema: typeof THOMPSON_SCHEMA;
  readonly policy: 'thompson';
  readonly memory: number | null;
  /** Feedbacks that the application's state counts for in a new context. */
  readonly prior: number;
  readonly arms: readonly Arm[];
  readonly judged: readonly number[];
  readonly rewarded: readonly number[];
};

/**
 * Thompson sampling with Beta posteriors over a uniform prior: each arm draws a success rate from
 * Beta(1 + rewards, 1 + losses), and the highest one serves. A loss between 0 and 1 counts as that much of a failure.
 * With a memory the posteriors widen again with feedback on other arms (Raj and Kalyani 2017); `memory: null` is the original.
 *
 * The probability of a choice has no closed form and is not needed to learn: its propensity is given as 1.
 */
export const thompsonPolicy: SelectionPolicy<ThompsonState> = {
  name: 'thompson',
  isPropensityUnknown: true,
  parameters: ['memory', 'prior'],

  init(arms, parameters) {
    const given = parameterObject('thompson', parameters, thompsonPolicy.parameters);
    return {
      schema: THOMPSON_SCHEMA,
      policy: 'thompson',
      prior: priorFrom(given, PRIOR_FEEDBACKS),
      ...emptyTally(distinctArms(arms), memoryFrom(given)),
    };
  },

  restore(value: Json): ThompsonState {
    const tally = tallyFrom(value);
    if (
      tally === undefined ||
      !isRecord(value) ||
      value.schema !== THOMPSON_SCHEMA ||
      value.policy !== 'thompson'
    ) {
      throw new PolicyError('state', `this is no state of policy 'thompson', schema ${THOMPSON_SCHEMA}`);
    }
    return { ...thompsonPolicy.init(tally.arms, { memory: tally.memory, prior: value.prior }), ...tally };
  },

  reconcile(state, arms) {
    return { ...state, ...carriedTally(state, distinctArms(arms)) };
  },

  select(state, draw): Selection {
    const { arms, judged, rewarded } = state;
    let best = -1;
    let most = -Infinity;
    for (let at = 0; at < arms.length; at++) {
      const rate = betaDraw(1 + rewarded[at], 1 + failed(judged[at], rewarded[at]), draw);
      if (rate > most) {
        most = rate;
        best = at;
      }
    }
    return { arms: best < 0 ? [] : [arms[best]], propensity: 1 };
  },

  combine(_state, asked, arrived): Combination {
    return single(asked, arrived);
  },

  observe(state, selection, predictions, feedback) {
    const tally = afterServing(state, selection, predictions, feedback);
    if (tally === undefined) return state;
    const { judged, rewarded } = tally;
    const { schema, policy, memory, prior, arms } = state;
    return { schema, policy, memory, prior, arms, judged, rewarded };
  },

  prior(own) {
    return own.prior === 0 ? undefined : { ...own, ...priorTally(own, own.prior) };
  },

  shares({ arms, judged, rewarded }) {
    const shares = probabilitiesToLead(
      arms.map((_, at) => 1 + rewarded[at]),
      arms.map((_, at) => 1 + failed(judged[at], rewarded[at])),
    );
    return new Map(arms.map((arm, at) => [arm, shares[at]]));
  },
};

/** Rounding can leave a sum of rewards a little above the number of them. */
function failed(judged: number, rewarded: number): number {
  return judged > rewarded ? judged - rewarded : 0;
}
