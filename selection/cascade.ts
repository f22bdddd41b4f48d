import { clamped, logOdds, oddsOf, probabilityOf } from './confidence.js';
import { lossInVote } from './exp4.js';
import { distinctArms, numbersByModel, parameterObject, shareFrom, type JsonObject } from './parameters.js';
import {
  PolicyError,
  type Arm,
  type Combination,
  type Json,
  type Selection,
  type SelectionPolicy,
} from './policy.js';
import { finite, isRecord, numberList } from './stateShape.js';
import { afterJudging, carriedTally, emptyTally, isJudgedApart, tallyFrom } from './tally.js';
import { answerOf } from './votes.js';

export const CASCADE_SCHEMA = 1;

export type CascadeState = {
  readonly schema: typeof CASCADE_SCHEMA;
  readonly policy: 'cascade';
  /** Below this confidence the next model is asked; with a budget where it begins. */
  readonly threshold: number;
  /** What asking each model costs, in any unit; null, or a model that is not named: 1. */
  readonly costs: Readonly<Record<string, number>> | null;
  /** What a query may cost on average, in that unit; null: the threshold stays. */
  readonly budget: number | null;
  /** The cheapest first. */
  readonly arms: readonly Arm[];
  readonly judged: readonly number[];
  readonly rewarded: readonly number[];
  readonly memory: null;
  /** The threshold that keeps to the budget, as log-odds. */
  readonly limit: number;
  /** Of the last thousand queries or so: what one cost, and how many each model answered. */
  readonly spent: number;
  readonly answered: readonly number[];
};

const DEFAULT_THRESHOLD = 0.9;
/** How far one query that costs all there is too much moves the log-odds of the threshold. */
const RATE = 0.05;
const KEPT = 0.999;

/**
 * The first model is asked; where it is less sure than a threshold, fails or does not answer, the next one is, and so on in order of linking. The last that
 * answers in time is the answer. With a budget the threshold is learned: each query moves its log-odds by the budget less what
 * the query cost (Robbins and Monro 1951), which rests where queries cost the budget on average.
 */
export const cascadePolicy: SelectionPolicy<CascadeState> = {
  name: 'cascade',
  isShared: true,
  parameters: ['threshold', 'costs', 'budget'],

  init(arms, parameters) {
    const given = parameterObject('cascade', parameters, cascadePolicy.parameters);
    const { arms: distinct, judged, rewarded } = emptyTally(distinctArms(arms), null);
    const threshold = shareFrom(given, 'threshold', DEFAULT_THRESHOLD);
    return {
      schema: CASCADE_SCHEMA,
      policy: 'cascade',
      threshold,
      costs: numbersByModel(given, 'costs', 1e9),
      budget: budgetFrom(given),
      arms: distinct,
      judged,
      rewarded,
      memory: null,
      limit: oddsOf(threshold),
      spent: 0,
      answered: distinct.map(() => 0),
    };
  },

  restore(value: Json): CascadeState {
    const tally = tallyFrom(value);
    if (
      tally === undefined ||
      !isRecord(value) ||
      value.schema !== CASCADE_SCHEMA ||
      value.policy !== 'cascade' ||
      !finite(value.limit) ||
      !finite(value.spent) ||
      !numberList(value.answered) ||
      value.answered.length !== tally.arms.length ||
      value.answered.some((count) => count < 0)
    ) {
      throw new PolicyError('state', `this is no state of policy 'cascade', schema ${CASCADE_SCHEMA}`);
    }
    const { threshold, costs, budget, limit, spent, answered } = value;
    const { judged, rewarded } = tally;
    const fresh = cascadePolicy.init(tally.arms, { threshold, costs, budget });
    return { ...fresh, judged, rewarded, limit: clamped(limit), spent, answered };
  },

  reconcile(state, arms) {
    const { arms: carried, judged, rewarded } = carriedTally(state, distinctArms(arms));
    const answered = carried.map((arm) => state.answered[state.arms.indexOf(arm)] ?? 0);
    return { ...state, arms: carried, judged, rewarded, answered };
  },

  select({ arms }): Selection {
    return { arms: arms.slice(0, 1), propensity: 1 };
  },

  escalate(state, asked, arrived): Arm | undefined {
    const last = asked[asked.length - 1];
    const next = state.arms[state.arms.indexOf(last) + 1];
    if (next === undefined || asked.includes(next)) return undefined;
    const answer = answerOf(last, arrived);
    if (answer === undefined) return next;
    const limit = state.budget === null ? oddsOf(state.threshold) : state.limit;
    return logOdds(answer.scores) < limit ? next : undefined;
  },

  /** The confidence is the model's own, 1 where it gives no scores. */
  combine(_state, asked, arrived): Combination {
    for (let at = asked.length - 1; at >= 0; at--) {
      const answer = answerOf(asked[at], arrived);
      if (answer === undefined) continue;
      const { output, scores } = answer;
      return { output, confidence: scores === undefined ? 1 : probabilityOf(logOdds(scores)) };
    }
    return { output: undefined, confidence: 0 };
  },

  notice(state, queries) {
    const { arms, costs, budget } = state;
    const costOf = (arm: Arm): number => (costs !== null && Object.hasOwn(costs, arm) ? costs[arm] : 1);
    const most = arms.reduce((sum, arm) => sum + costOf(arm), 0);
    if (most === 0) return state;
    let { limit, spent } = state;
    const answered = [...state.answered];
    for (const outcomes of queries) {
      let cost = 0;
      let by = -1;
      for (const { arm, kind } of outcomes) {
        cost += costOf(arm);
        if (kind === 'answered') by = arms.indexOf(arm);
      }
      if (budget !== null) limit = clamped(limit + (RATE * (budget - cost)) / most);
      spent = spent === 0 ? cost : KEPT * spent + (1 - KEPT) * cost;
      for (let at = 0; at < answered.length; at++) answered[at] = KEPT * answered[at] + (at === by ? 1 : 0);
    }
    return { ...state, limit, spent, answered };
  },

  /** Each that was asked and answered is judged by what it said. */
  observe(state, _selection, predictions, feedback) {
    const losses = state.arms.map(
      (arm) =>
        [arm, isJudgedApart(arm, feedback) ? lossInVote(arm, predictions, feedback) : undefined] as const,
    );
    const isLearned = losses.some(([, loss]) => loss !== undefined);
    return isLearned ? { ...state, ...afterJudging(state, losses) } : state;
  },

  /** Of queries that were answered lately, one more imagined for the first model. */
  shares({ arms, answered }) {
    const total = answered.reduce((sum, count) => sum + count, 1);
    return new Map(arms.map((arm, at) => [arm, (answered[at] + (at === 0 ? 1 : 0)) / total]));
  },
};

/** @throws PolicyError */
function budgetFrom(parameters: JsonObject): number | null {
  const value = Object.hasOwn(parameters, 'budget') ? parameters.budget : null;
  if (value === null) return null;
  if (typeof value === 'number' && value > 0 && Number.isFinite(value)) return value;
  const message = `budget must be a number above 0, what a query may cost on average in the unit of costs, or null, not ${JSON.stringify(value)}`;
  throw new PolicyError('parameters.budget', message);
}
