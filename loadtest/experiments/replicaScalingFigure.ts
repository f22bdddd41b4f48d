import { renderFigure } from '../report/index.js';
import { OBJECTIVE_MS, SEED, type ScalingSeries } from './replicaScalingExperiment.js';

/** Clipper's figure 6: solid lines for all replicas together, dashed ones for the mean of each. */
export function replicaScalingFigure(series: readonly ScalingSeries[]): string {
  return renderFigure({
    title: 'Replicas of one model: the first beside the frontend, the others over a network',
    subtitle: `Closed-loop clients, objective ${OBJECTIVE_MS} ms; frontend CPU and network charged; virtual time, seed ${SEED}`,
    xLabel: 'replicas',
    panels: [
      {
        yLabel: 'answers in time (1/s)',
        series: series.flatMap(({ name, results }, color) => [
          {
            name,
            color,
            points: results.map((one) => [one.replicas, one.inTimePerSecond] as const),
          },
          {
            name: `${name}, each`,
            color,
            dashed: true,
            points: results.map((one) => [one.replicas, one.perReplicaPerSecond] as const),
          },
        ]),
      },
      {
        yLabel: "frontend's CPU (%)",
        series: series.map(({ name, results }, color) => ({
          name,
          color,
          points: results.map((one) => [one.replicas, 100 * one.frontendCpuShare] as const),
        })),
      },
      {
        yLabel: "network card's rate (%)",
        series: series.map(({ name, results }, color) => ({
          name,
          color,
          points: results.map((one) => [one.replicas, 100 * one.cardShare] as const),
        })),
      },
    ],
  });
}
