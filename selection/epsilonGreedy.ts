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

export const EPSILON_GREEDY_SCHEMA = 1;

export type EpsilonGreedyState = {
  readonly schema: typeof EPSILON_GREEDY_SCHEMA;
  readonly policy: 'epsilonGreedy';
  /** Share of queries that go to all arms alike. */
  readonly epsilon: number;
  readonly memory: number | null;
  /** Feedbacks that the application's state counts for in a new context. */
  readonly prior: number;
  readonly arms: readonly Arm[];
  readonly judged: readonly number[];
  readonly rewarded: readonly number[];
};

const DEFAULT_EPSILON = 0.1;

/**
 * The arm with the best mean reward, and any arm with probability epsilon (Auer, Cesa-Bianchi, Fischer 2002). Arms that have not
 * been judged come first; among equals the one that was linked first.
 */
export const epsilonGreedyPolicy: SelectionPolicy<EpsilonGreedyState> = {
  name: 'epsilonGreedy',
  parameters: ['epsilon', 'memory', 'prior'],

  init(arms, parameters) {
    const given = parameterObject('epsilonGreedy', parameters, epsilonGreedyPolicy.parameters);
    return {
      schema: EPSILON_GREEDY_SCHEMA,
      policy: 'epsilonGreedy',
      epsilon: numberIn(given, 'epsilon', 0, 1, DEFAULT_EPSILON),
      prior: priorFrom(given, PRIOR_FEEDBACKS),
      ...emptyTally(distinctArms(arms), memoryFrom(given)),
    };
  },

  restore(value: Json): EpsilonGreedyState {
    const tally = tallyFrom(value);
    if (
      tally === undefined ||
      !isRecord(value) ||
      value.schema !== EPSILON_GREEDY_SCHEMA ||
      value.policy !== 'epsilonGreedy' ||
      !finite(value.epsilon)
    ) {
      throw new PolicyError(
        'state',
        `this is no state of policy 'epsilonGreedy', schema ${EPSILON_GREEDY_SCHEMA}`,
      );
    }
    const { epsilon, prior } = value;
    return { ...epsilonGreedyPolicy.init(tally.arms, { epsilon, memory: tally.memory, prior }), ...tally };
  },

  reconcile(state, arms) {
    return { ...state, ...carriedTally(state, distinctArms(arms)) };
  },

  select(state, draw): Selection {
    const count = state.arms.length;
    if (count === 0) return { arms: [], propensity: 1 };
    const best = leader(state);
    const drawn = draw();
    const each = state.epsilon / count;
    const at = drawn < state.epsilon ? Math.min(count - 1, Math.floor(drawn / each)) : best;
    return { arms: [state.arms[at]], propensity: each + (at === best ? 1 - state.epsilon : 0) };
  },

  combine(_state, asked, arrived): Combination {
    return single(asked, arrived);
  },

  observe(state, selection, predictions, feedback) {
    const tally = afterServing(state, selection, predictions, feedback);
    if (tally === undefined) return state;
    const { judged, rewarded } = tally;
    const { schema, policy, epsilon, memory, prior, arms } = state;
    return { schema, policy, epsilon, memory, prior, arms, judged, rewarded };
  },

  prior(own) {
    return own.prior === 0 ? undefined : { ...own, ...priorTally(own, own.prior) };
  },

  shares(state) {
    const best = leader(state);
    const each = state.epsilon / state.arms.length;
    return new Map(state.arms.map((arm, at) => [arm, each + (at === best ? 1 - state.epsilon : 0)]));
  },
};

function leader({ judged, rewarded }: EpsilonGreedyState): number {
  let best = 0;
  let most = -Infinity;
  for (let at = 0; at < judged.length; at++) {
    const mean = judged[at] > 0 ? rewarded[at] / judged[at] : Infinity;
    if (mean > most) {
      most = mean;
      best = at;
    }
  }
  return best;
}
