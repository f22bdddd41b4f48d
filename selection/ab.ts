import { dealtArm } from './dealtArm.js';
import { distinctArms, numbersByModel, parameterObject } from './parameters.js';
import {
  PolicyError,
  type Arm,
  type Combination,
  type Json,
  type Selection,
  type SelectionPolicy,
} from './policy.js';
import { isRecord } from './stateShape.js';
import { single } from './static.js';
import { afterServing, carriedTally, emptyTally, tallyFrom } from './tally.js';

export const AB_SCHEMA = 1;

export type AbState = {
  readonly schema: typeof AB_SCHEMA;
  readonly policy: 'ab';
  /** By model, in any unit; null: all alike. A model that is not named gets nothing. */
  readonly split: Readonly<Record<string, number>> | null;
  /** Two experiments of different names deal the same contexts independently. */
  readonly experiment: string;
  readonly arms: readonly Arm[];
  readonly judged: readonly number[];
  readonly rewarded: readonly number[];
  readonly memory: null;
};

const LONGEST_NAME = 64;

/**
 * An A/B test: each context has one model, in shares that are given, and keeps it; a query without a context is dealt by itself.
 * Nothing is learned but how the models did.
 */
export const abPolicy: SelectionPolicy<AbState> = {
  name: 'ab',
  isShared: true,
  parameters: ['split', 'experiment'],

  init(arms, parameters) {
    const given = parameterObject('ab', parameters, abPolicy.parameters);
    const { arms: distinct, judged, rewarded } = emptyTally(distinctArms(arms), null);
    return {
      schema: AB_SCHEMA,
      policy: 'ab',
      split: numbersByModel(given, 'split', 1e6),
      experiment: experimentName(given.experiment),
      arms: distinct,
      judged,
      rewarded,
      memory: null,
    };
  },

  restore(value: Json): AbState {
    const tally = tallyFrom(value);
    if (tally === undefined || !isRecord(value) || value.schema !== AB_SCHEMA || value.policy !== 'ab') {
      throw new PolicyError('state', `this is no state of policy 'ab', schema ${AB_SCHEMA}`);
    }
    const { split, experiment } = value;
    const fresh = abPolicy.init(tally.arms, { split, experiment });
    return { ...fresh, judged: tally.judged, rewarded: tally.rewarded };
  },

  reconcile(state, arms) {
    const { arms: carried, judged, rewarded } = carriedTally(state, distinctArms(arms));
    return { ...state, arms: carried, judged, rewarded };
  },

  select(state, draw, query): Selection {
    const best = dealtArm(
      state.arms,
      (arm) => shareOf(state, arm),
      query?.context ?? '',
      state.experiment,
      draw,
    );
    if (best === undefined) return { arms: [], propensity: 1 };
    return { arms: [best], propensity: shareOf(state, best) / totalOf(state) };
  },

  combine(_state, asked, arrived): Combination {
    return single(asked, arrived);
  },

  observe(state, selection, predictions, feedback) {
    const tally = afterServing(state, selection, predictions, feedback);
    return tally === undefined ? state : { ...state, judged: tally.judged, rewarded: tally.rewarded };
  },

  shares(state) {
    const total = totalOf(state);
    return new Map(state.arms.map((arm) => [arm, total === 0 ? 0 : shareOf(state, arm) / total]));
  },
};

function shareOf({ split }: AbState, arm: Arm): number {
  if (split === null) return 1;
  return Object.hasOwn(split, arm) ? split[arm] : 0;
}

function totalOf(state: AbState): number {
  return state.arms.reduce((sum, arm) => sum + shareOf(state, arm), 0);
}

/** @throws PolicyError */
function experimentName(value: Json | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'string' && value.length <= LONGEST_NAME) return value;
  throw new PolicyError(
    'parameters.experiment',
    `experiment must be a name of up to ${LONGEST_NAME} characters, not ${JSON.stringify(value)}`,
  );
}
