import { distinctArms } from '../parameters.js';
import type { Features, Selection, SelectionPolicy } from '../policy.js';
import { single } from '../static.js';
import {
  afterServing,
  carriedArms,
  eachEstimate,
  faultOf,
  judgedShares,
  priorArms,
  type LinearArms,
} from './linearArms.js';

type Shared = 'reconcile' | 'featureFault' | 'combine' | 'observe' | 'prior' | 'shares';

/** What linear policies do alike; how they rank arms is their own. @param name of the policy, for what is refused */
export function linearRules<S extends LinearArms>(name: string): Required<Pick<SelectionPolicy<S>, Shared>> {
  return {
    reconcile(state, arms) {
      return { ...state, ...carriedArms(state, distinctArms(arms)) };
    },

    featureFault(state, features) {
      return faultOf(name, state, features);
    },

    combine(_state, asked, arrived) {
      return single(asked, arrived);
    },

    observe(state, selection, predictions, feedback, query) {
      const arms = afterServing(state, selection, predictions, feedback, query?.features);
      return arms === undefined ? state : { ...state, ...arms };
    },

    prior(own) {
      return own.prior === 0 ? undefined : { ...own, ...priorArms(own) };
    },

    /** The next choice depends on a query's features: the share of the feedback that each arm has had. */
    shares: judgedShares,
  };
}

/**
 * The arm that ranks highest, the first linked among equals; none where no arm is linked.
 * @param rank of an arm, by the mean and the width of its estimate: asked once an arm, in order of linking
 */
export function highestRanked(
  state: LinearArms,
  features: Features | undefined,
  rank: (mean: number, width: number) => number,
): Selection {
  let best = -1;
  let most = -Infinity;
  eachEstimate(state, features, (mean, width, at) => {
    const ranked = rank(mean, width);
    if (ranked > most) {
      most = ranked;
      best = at;
    }
  });
  return { arms: best < 0 ? [] : [state.arms[best]], propensity: 1 };
}
