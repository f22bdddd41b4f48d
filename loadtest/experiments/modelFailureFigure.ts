import type { Json } from '../../selection/index.js';
import { renderFigure, type Series } from '../report/index.js';
import type { ModelFailureSettings } from './modelFailureExperiment.js';
import type { Interval } from './regretExperiment.js';

export interface ChoiceResult {
  readonly label: string;
  readonly policy: string;
  readonly parameters: Json;
  /** Share of wrong answers at the end. */
  readonly error: Interval;
  /** Wrong answers beyond those of the best static choice. */
  readonly regret: Interval;
  readonly curve: readonly (Interval & { readonly queries: number })[];
}

export interface FailureSummary {
  readonly settings: ModelFailureSettings;
  readonly seeds: number;
  readonly models: readonly { readonly name: string; readonly heldOutError: number }[];
  readonly exp3TextbookBound: number;
  readonly exp3DefaultBound: number;
  readonly results: readonly ChoiceResult[];
}

const COLORS = new Map([
  ['exp3', 0],
  ['exp4', 1],
  ['weighted', 5],
  ['thompson', 2],
  ['majority', 3],
]);

/** Cumulative error over queries: static choices and the two policies as in Clipper's figure 8, then the other policies. */
export function modelFailureFigure({ settings, seeds, results }: FailureSummary): string {
  const { from, until, model } = settings.failure;
  const statics = results.filter(({ policy }) => policy === 'static');
  const find = (label: string): ChoiceResult[] => results.filter((result) => result.label === label);
  const lowest = statics.reduce((least, result) => (result.error.mean < least.error.mean ? result : least));
  const references = [{ y: lowest.error.mean, name: 'the best static choice at the end' }];
  return renderFigure({
    title: 'The best model fails and recovers',
    subtitle: `${model} answers by lot from query ${from} to ${until}; feedback at once; mean of ${seeds} seeds and its 95 % interval`,
    xLabel: 'queries',
    panelHeight: 300,
    panels: [
      {
        yLabel: 'cumulative error',
        series: [
          ...statics.map((result, at) => line(result, STATIC_COLORS[at % STATIC_COLORS.length], true)),
          ...['exp3', 'exp4']
            .flatMap(find)
            .map((result) => line(result, COLORS.get(result.label) ?? 7, false)),
        ],
        references,
      },
      {
        yLabel: 'cumulative error',
        series: ['exp3', 'exp4', 'weighted', 'thompson', 'majority']
          .flatMap(find)
          .map((result) => line(result, COLORS.get(result.label) ?? 7, false)),
        references,
      },
    ],
  });
}

/** Apart from those of the policies. */
const STATIC_COLORS = [6, 3, 4, 2, 7];

function line({ label, curve }: ChoiceResult, color: number, dashed: boolean): Series {
  return {
    name: label,
    color,
    dashed,
    points: curve.map(({ queries, mean }) => [queries, mean]),
    band: curve.map(({ queries, low, high }) => [queries, low, high]),
  };
}
