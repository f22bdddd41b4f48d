import { duration, matching, rate, recorded, sum, type Recorded } from '../../../services/metrics/index.js';

/** Of the queries of an application, how many are to get a prediction within its objective. */
export const TARGET = 0.99;
/** What the others may be. */
export const BUDGET = Math.round((1 - TARGET) * 1e6) / 1e6;

const HOUR = 3600;
/** The budget is for so long. */
export const PERIOD = 30 * 24 * HOUR;

/** An alert when both windows burn the budget so many times faster than would last for its period. */
export interface Burn {
  readonly factor: number;
  readonly longSeconds: number;
  readonly shortSeconds: number;
}

/** 2 % of the budget in an hour; 5 % in six: Google's Site Reliability Workbook, chapter 5. */
export const FAST_BURN: Burn = { factor: 14.4, longSeconds: HOUR, shortSeconds: 300 };
export const SLOW_BURN: Burn = { factor: 6, longSeconds: 6 * HOUR, shortSeconds: 1800 };

/** Share of an application's queries that got no prediction in time: default outputs and errors. Clients' mistakes do not count. */
export function missedShare(seconds: number, speed = 1): Recorded<'application'> {
  const counted = (outcome: string) =>
    sum(['application'], rate('windjammer_queries_total', seconds / speed, { outcome: matching(outcome) }));
  return recorded(
    `application:windjammer_queries_missed:ratio_rate${duration(seconds)}`,
    counted('default|error').over(counted('predicted|default|error')),
  );
}

/** What is left of the period's budget: 1 is all of it, below 0 it is overdrawn. */
export function budgetLeft(speed = 1): Recorded<'application'> {
  const { vector } = missedShare(PERIOD, speed);
  return recorded('application:windjammer_error_budget_left:ratio', vector.over(BUDGET).from(1));
}
