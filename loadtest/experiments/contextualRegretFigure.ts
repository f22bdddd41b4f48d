import { renderFigure, type Series } from '../report/index.js';
import type { ContextualSummary } from './contextualRegretExperiment.js';

/** Mean regret over queries with intervals, a panel for each stream, and over horizons where it is hardest. */
export function contextualRegretFigure({ seeds, streams, growth }: ContextualSummary): string {
  return renderFigure({
    title: 'Regret of policies with and without features',
    subtitle: `Five arms, four features, ${seeds} seeds, mean and its 95 % interval; forgetting nothing solid, Windjammer's defaults dashed`,
    xLabel: 'queries',
    panelHeight: 270,
    panels: [
      ...streams.map(({ stream, contenders }) => ({
        yLabel: `${stream}: losses beyond the best linear policy`,
        series: contenders.map(({ name, color, isDefault, curve }): Series => ({
          name,
          color,
          dashed: isDefault,
          points: curve.map(({ queries, mean }) => [queries, mean]),
          band: curve.map(({ queries, low, high }) => [queries, low, high]),
        })),
      })),
      {
        yLabel: 'hardest for each number of queries: losses beyond the best',
        series: growth.flatMap(({ name, color, factor, points }): Series[] => [
          {
            name,
            color,
            points: points.map(({ queries, mean }) => [queries, mean]),
            band: points.map(({ queries, low, high }) => [queries, low, high]),
          },
          {
            name: `${factor.toFixed(2)} sqrt(queries)`,
            color,
            dashed: true,
            points: points.map(({ queries }) => [queries, factor * Math.sqrt(queries)]),
          },
        ]),
      },
    ],
  });
}
