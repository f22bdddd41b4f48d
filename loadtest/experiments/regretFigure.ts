import { renderFigure, type Reference, type Series } from '../report/index.js';
import type { ContenderResult, RegretSummary } from './regretExperiment.js';

/** Mean regret over queries with intervals, a panel for each stream. */
export function regretFigure(summary: RegretSummary): string {
  return renderFigure({
    title: 'Regret of the single-model policies',
    subtitle: `Five arms, ${summary.seeds} seeds, mean and its 95 % interval; textbook parameters solid, Windjammer's defaults dashed`,
    xLabel: 'queries',
    panelHeight: 270,
    panels: summary.streams.map(({ stream, comparator, contenders }) => ({
      yLabel: `${stream}: losses beyond ${comparator}`,
      // UCB1 is far above everybody there.
      logarithmic: stream === 'adversarial',
      references: stream === 'drifting' ? [] : [exp3Reference(contenders)],
      series: contenders.map(({ name, color, isDefault, curve }): Series => ({
        name,
        color,
        dashed: isDefault,
        points: curve.map(({ queries, mean }) => [queries, mean]),
        band: curve.map(({ queries, low, high }) => [queries, low, high]),
      })),
    })),
  });
}

function exp3Reference(contenders: readonly ContenderResult[]): Reference {
  return { y: contenders.find(({ name }) => name === 'exp3')?.bound ?? NaN, name: "exp3's bound at the end" };
}
