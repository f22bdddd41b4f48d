import { renderBars, renderFigure } from '../report/index.js';
import {
  OBJECTIVE_MS,
  WINDOW_SECONDS,
  type LatencyProfile,
  type ModelComparison,
} from './batchLatencyExperiment.js';

/** Latency by batch size. */
export function profileFigure(profiles: readonly LatencyProfile[]): string {
  return renderFigure({
    title: 'Latency of the digit models by batch size',
    subtitle: 'Batches alone on one simulated H200, from arrival at the container to the answer',
    xLabel: 'batch size (items)',
    panels: [
      {
        yLabel: 'latency (µs)',
        series: profiles.map(({ name, points }, color) => ({
          name,
          color,
          points: points.map(({ batchSize, latencyUs }) => [batchSize, latencyUs] as const),
        })),
      },
    ],
    panelHeight: 340,
  });
}

/** What each strategy makes of each model, against the hand-tuned size. */
export function strategyFigure(comparisons: readonly ModelComparison[], seed: number): string {
  return renderBars({
    title: `Batching strategies at a ${OBJECTIVE_MS} ms objective`,
    subtitle: `Answers in time, 1.3 times what a hand-tuned size can do on offer; virtual time, seed ${seed}`,
    yLabel: 'share of the hand-tuned size (%)',
    groups: comparisons.map(({ name, results }) => ({
      name,
      bars: results.map(({ inTimePerSecond }, at) => {
        const share = (100 * inTimePerSecond) / results[2].inTimePerSecond;
        return {
          name: [['AIMD'], ['quan-', 'tile'], ['tuned'], ['512'], ['none']][at],
          value: share,
          text: share.toFixed(share < 9.95 ? 1 : 0),
          color: [0, 4, 2, 1, 6][at],
        };
      }),
    })),
  });
}

/** How both adaptive strategies find their size. */
export function convergenceFigure({ name, results, runs }: ModelComparison, seed: number): string {
  const tuned = Number(results[2].strategy.split(' ')[1]);
  return renderFigure({
    title: `How AIMD and quantile regression find the batch size (${name})`,
    subtitle: `Objective ${OBJECTIVE_MS} ms, Poisson arrivals; virtual time, seed ${seed}`,
    xLabel: 'time (s)',
    panels: [
      {
        yLabel: 'largest batch (items)',
        series: [0, 1].map((at) => ({
          name: ['AIMD', 'quantile regression'][at],
          color: [0, 1][at],
          points: runs[at].batches.map(({ atSeconds, limit }) => [atSeconds, limit] as const),
        })),
        references: [{ y: tuned, name: 'hand-tuned' }],
      },
      {
        yLabel: 'answers in time (1/s)',
        series: [0, 1].map((at) => ({
          name: ['AIMD', 'quantile regression'][at],
          color: [0, 1][at],
          points: runs[at].windows.map(
            ({ atSeconds, answers, defaults }) => [atSeconds, (answers - defaults) / WINDOW_SECONDS] as const,
          ),
        })),
        references: [{ y: results[2].inTimePerSecond, name: 'hand-tuned' }],
      },
    ],
  });
}
