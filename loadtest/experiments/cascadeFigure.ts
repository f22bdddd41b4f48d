import { renderFigure } from '../report/index.js';
import type { Interval } from './regretExperiment.js';

export interface SingleResult {
  readonly name: string;
  readonly error: Interval;
  readonly gpuUs: Interval;
  /** Of the accurate model's GPU time. */
  readonly share: Interval;
}

/** Means over splits of the digits into those to learn with and those that are reported. */
export interface BudgetResult {
  readonly budget: number;
  readonly threshold: Interval;
  readonly escalated: Interval;
  readonly error: Interval;
  /** Of the error beyond the accurate model's. */
  readonly behind: Interval;
  readonly gpuUs: Interval;
  readonly share: Interval;
  /** Splits within half a point of the accurate model's error at 40 % of its GPU time at most. */
  readonly within: number;
  /** Learned in the first split. */
  readonly firstThreshold: number;
}

export interface CascadeSummary {
  readonly splits: number;
  /** That are reported, of each split. */
  readonly digits: number;
  readonly cheap: SingleResult;
  readonly accurate: SingleResult;
  readonly budgets: readonly BudgetResult[];
}

/** A run in which kernels compute every answer. */
export interface LoadedRun {
  readonly name: string;
  /** null: one query after the other. */
  readonly perSecond: number | null;
  readonly error: number;
  readonly escalated: number;
  readonly gpuUs: number;
  readonly p50Us: number;
  readonly p99Us: number;
}

/** Error over GPU time: from the cheap model by way of the learned cascades to the accurate one, a panel for each cheap model. */
export function cascadeFigure(pairs: readonly CascadeSummary[]): string {
  const percentOf = (share: number): number => 100 * share;
  const [{ accurate, splits, digits, budgets: asked }] = pairs;
  const shares = asked.map(({ budget }) => percentOf(budget).toFixed(0)).join(', ');
  return renderFigure({
    title: 'Cascades learned to a budget of GPU time',
    subtitle: `A cheap model, cascades at budgets of ${shares} %, and the ${accurate.name} alone; ${splits} splits of digits, ${digits} reported each`,
    xLabel: `GPU time a query (% of the ${accurate.name}'s)`,
    panelHeight: 260,
    panels: pairs.map(({ cheap, accurate: best, budgets }) => {
      const all = [cheap, ...budgets.toSorted((one, other) => one.share.mean - other.share.mean), best];
      return {
        yLabel: 'wrong answers (%)',
        series: [
          {
            name: `from ${cheap.name}: mean of splits, with its 95 % interval`,
            color: 0,
            points: all.map(({ share, error }) => [percentOf(share.mean), percentOf(error.mean)]),
            band: all.map(({ share, error }) => [
              percentOf(share.mean),
              percentOf(error.low),
              percentOf(error.high),
            ]),
          },
        ],
        references: [
          { y: percentOf(best.error.mean), name: best.name },
          { y: percentOf(best.error.mean + 0.005), name: 'half a point more' },
        ],
      };
    }),
  });
}
