import { renderFigure } from '../report/index.js';
import { SEED, type StragglerResult, type StragglerSettings } from './stragglerExperiment.js';

/** Clipper's figure 9: latency, missing predictions and accuracy by the size of the ensemble. */
export function stragglerFigure(
  { queriesPerSecond, objectiveMs = 0 }: StragglerSettings,
  mitigated: readonly StragglerResult[],
  waiting: readonly StragglerResult[],
): string {
  const line = (results: readonly StragglerResult[], of: (one: StragglerResult) => number) =>
    results.map((one) => [one.models, of(one)] as const);
  return renderFigure({
    title: 'Stragglers in ensembles of random forests',
    subtitle: `${queriesPerSecond} queries a second, majority of the forests; virtual time, seed ${SEED}`,
    xLabel: 'models in the ensemble',
    panels: [
      {
        yLabel: 'latency (ms)',
        logarithmic: true,
        series: [
          { name: 'p99, waiting for all', color: 1, points: line(waiting, (one) => one.p99Ms) },
          {
            name: 'mean, waiting for all',
            color: 1,
            dashed: true,
            points: line(waiting, (one) => one.meanMs),
          },
          { name: 'p99, at the deadline', color: 0, points: line(mitigated, (one) => one.p99Ms) },
          {
            name: 'mean, at the deadline',
            color: 0,
            dashed: true,
            points: line(mitigated, (one) => one.meanMs),
          },
        ],
        references: [{ y: objectiveMs, name: 'objective' }],
      },
      {
        yLabel: 'missing predictions (%)',
        series: [
          { name: 'mean', color: 0, points: line(mitigated, (one) => 100 * one.missingShare) },
          {
            name: 'p99 of queries',
            color: 0,
            dashed: true,
            points: line(mitigated, (one) => 100 * one.missingP99),
          },
        ],
      },
      {
        yLabel: 'wrong answers (%)',
        series: [
          { name: 'waiting for all', color: 1, points: line(waiting, (one) => 100 * (1 - one.accuracy)) },
          { name: 'at the deadline', color: 0, points: line(mitigated, (one) => 100 * (1 - one.accuracy)) },
        ],
      },
    ],
  });
}
