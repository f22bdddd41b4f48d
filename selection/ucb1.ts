import { distinctArms, numberIn, parameterObject } from './parameters.js';
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
import { single } from './static.js';
import { afterServing, carriedTally, emptyTally, memoryFrom, PRIOR_FEEDBACKS, tallyFrom } from './tally.js';

export const UCB1_SCHEMA = 1;

export type Ucb1State = {
  readonly schema: typeof UCB1_SCHEMA;
  readonly policy: 'ucb1';
  /** Under the root of the confidence bound: 2 in the paper. */
  readonly exploration: number;
  readonly memory: number | null;
  /** Feedbacks that the application's state counts for in a new context. */
  readonly prior: number;
  readonly arms: readonly Arm[];
  readonly judged: readonly number[];
  readonly rewarded: readonly number[];
};

const DEFAULT_EXPLORATION = 2;

/**
 * UCB1 (Auer, Cesa-Bianchi, Fischer 2002): the arm with the highest `mean reward + sqrt(exploration ln(n) / n_i)`, an arm that has
 * not been judged first, among equals the one that was linked first. No draw. With a memory the counts are
 * discounted (Garivier and Moulines 2011), so that an arm not asked for long is tried again; `memory: null` is the paper's.
 *
 * Until feedback comes, all queries go to the same arm.
 */
export const ucb1Policy: SelectionPolicy<Ucb1State> = {
  name: 'ucb1',
  parameters: ['exploration', 'memory', 'prior'],

  init(arms, parameters) {
    const given = parameterObject('ucb1', parameters, ucb1Policy.parameters);
    return {
      schema: UCB1_SCHEMA,
      policy: 'ucb1',
      exploration: numberIn(given, 'exploration', 0, 100, DEFAULT_EXPLORATION),
      prior: priorFrom(given, PRIOR_FEEDBACKS),
      ...emptyTally(distinctArms(arms), memoryFrom(given)),
    };
  },

  restore(value: Json): Ucb1State {
    const tally = tallyFrom(value);
    if (
      tally === undefined ||
      !isRecord(value) ||
      value.schema !== UCB1_SCHEMA ||
      value.policy !== 'ucb1' ||
      !finite(value.exploration)
    ) {
      throw new PolicyError('state', `this is no state of policy 'ucb1', schema ${UCB1_SCHEMA}`);
    }
    const { exploration, prior } = value;
    return { ...ucb1Policy.init(tally.arms, { exploration, memory: tally.memory, prior }), ...tally };
  },

  reconcile(state, arms) {
    return { ...state, ...carriedTally(state, distinctArms(arms)) };
  },

  select(state): Selection {
    const { arms, judged, rewarded, exploration } = state;
    let total = 0;
    for (const count of judged) total += count;
    const spread = exploration * Math.log(Math.max(1, total));
    let best = -1;
    let most = -Infinity;
    for (let at = 0; at < arms.length; at++) {
      const count = judged[at];
      const bound = count > 0 ? rewarded[at] / count + Math.sqrt(spread / count) : Infinity;
      if (bound > most) {
        most = bound;
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
    const { schema, policy, exploration, memory, prior, arms } = state;
    return { schema, policy, exploration, memory, prior, arms, judged, rewarded };
  },

  /** The next choice is no draw: the share of judged queries that each arm has had, one more imagined for each. */
  prior(own) {
    return own.prior === 0 ? undefined : { ...own, ...priorTally(own, own.prior) };
  },

  shares({ arms, judged }) {
    let total = 0;
    for (const count of judged) total += count + 1;
    return new Map(arms.map((arm, at) => [arm, (judged[at] + 1) / total]));
  },
};
