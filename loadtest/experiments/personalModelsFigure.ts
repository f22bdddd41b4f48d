import { renderFigure } from '../report/index.js';
import type { Interval } from './regretExperiment.js';

export interface PersonalResult {
  readonly label: string;
  readonly color: number;
  readonly dashed: boolean;
  /** Errors on the digits of every user behind `from` feedbacks and before `until`. */
  readonly stretches: readonly (Interval & { readonly from: number; readonly until: number })[];
  readonly curve: readonly (Interval & { readonly feedbacks: number })[];
}

export interface DriftResult {
  /** How far the groups are apart. */
  readonly drift: number;
  readonly results: readonly PersonalResult[];
}

export interface PersonalModelsSummary {
  readonly seed: number;
  readonly seeds: number;
  readonly users: number;
  readonly digitsEach: number;
  readonly eta: number;
  readonly drifts: readonly DriftResult[];
}

/** Error over a user's feedbacks, as Clipper's figure 10, a panel for each drift. */
export function personalModelsFigure({ seeds, users, drifts }: PersonalModelsSummary): string {
  return renderFigure({
    title: 'Ensembles that learn whom they serve',
    subtitle: `Eight groups of writers, ${users} users with styles of their own in each of ${seeds} runs; mean and its 95 % interval`,
    xLabel: 'feedbacks of the user so far',
    panelHeight: 300,
    panels: drifts.map(({ drift, results }) => ({
      yLabel: `wrong answers (%), drift ${drift}`,
      series: results.map(({ label, color, dashed, curve }) => ({
        name: label,
        color,
        dashed,
        points: curve.map(({ feedbacks, mean }) => [feedbacks, 100 * mean]),
        band: curve.map(({ feedbacks, low, high }) => [feedbacks, 100 * low, 100 * high]),
      })),
    })),
  });
}
