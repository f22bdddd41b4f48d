import { renderFigure } from '../report/index.js';
import type { AimdSettings, StrategyRun } from './aimdExperiment.js';

export interface AimdComparison {
  /** Latencies on a logarithmic axis. */
  readonly logarithmic: boolean;
  readonly settings: AimdSettings;
  readonly adaptive: StrategyRun;
  readonly unbatched: StrategyRun;
}

/** Batch size, latency and throughput over time. */
export function aimdFigure(
  title: string,
  subtitle: string,
  { logarithmic, settings, adaptive, unbatched }: AimdComparison,
): string {
  const perWindow = 1 / settings.windowSeconds;
  return renderFigure({
    title,
    subtitle: `${subtitle}; Poisson arrivals; virtual time, seed ${settings.seed}`,
    xLabel: 'time (s)',
    panels: [
      {
        yLabel: 'batch size (items)',
        series: [
          {
            name: 'largest allowed by AIMD',
            color: 0,
            points: adaptive.batches.map((at) => [at.atSeconds, at.limit]),
          },
          { name: 'mean sent', color: 4, points: adaptive.batches.map((at) => [at.atSeconds, at.meanSize]) },
        ],
      },
      {
        yLabel: 'latency (ms)',
        logarithmic,
        series: [
          { name: 'p99, AIMD', color: 0, points: adaptive.windows.map((at) => [at.atSeconds, at.p99Ms]) },
          { name: 'p50, AIMD', color: 4, points: adaptive.windows.map((at) => [at.atSeconds, at.p50Ms]) },
          {
            name: 'p50, no batching',
            color: 1,
            dashed: true,
            points: unbatched.windows.map((at) => [at.atSeconds, at.p50Ms]),
          },
        ],
        references: [{ y: settings.objectiveMs, name: 'objective' }],
      },
      {
        yLabel: 'answers (1/s)',
        series: [
          { name: 'offered', color: 5, dashed: true, points: offered(settings) },
          {
            name: 'in time, AIMD',
            color: 0,
            points: adaptive.windows.map((at) => [at.atSeconds, (at.answers - at.defaults) * perWindow]),
          },
          {
            name: 'computed, no batching (late ones too)',
            color: 1,
            dashed: true,
            points: unbatched.batches.map((at) => [at.atSeconds, at.batches * at.meanSize * perWindow]),
          },
        ],
      },
    ],
  });
}

/** The load as a line of steps. */
function offered({ stages, durationSeconds }: AimdSettings): (readonly [number, number])[] {
  return stages.flatMap(({ fromSeconds, queriesPerSecond }, at) => [
    [fromSeconds, queriesPerSecond] as const,
    [stages.at(at + 1)?.fromSeconds ?? durationSeconds, queriesPerSecond] as const,
  ]);
}
