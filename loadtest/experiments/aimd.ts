/**
 * Adaptive batching against no batching at a 20 ms objective, in virtual time: batch size, latency and throughput over
 * time. Writes aimd.json and aimd.svg. Usage: node dist/loadtest/experiments/aimd.js [folder]
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderFigure, type Window } from '../report/index.js';
import { AIMD_SETTINGS, runStrategy, type StrategyRun } from './aimdExperiment.js';

const folder = process.argv[2] ?? fileURLToPath(new URL('../../../docs/experiments/aimd', import.meta.url));
const settings = AIMD_SETTINGS;
const adaptive = runStrategy(settings, { strategy: 'aimd' });
const unbatched = runStrategy(settings, { strategy: 'fixed', maxBatchSize: 1 });
// The most that one input after the other can give, were no moment of the model ever lost.
const unbatchedCeilingPerSecond = 1000 / (settings.fixedMs + settings.itemMs);
const summary = {
  settings,
  unbatchedCeilingPerSecond,
  /** In-time answers over the most that no batching could give, by stage. */
  gain: adaptive.stages.map((stage) => stage.answersInTimePerSecond / unbatchedCeilingPerSecond),
  adaptive: adaptive.stages,
  unbatched: unbatched.stages,
  longestLatencyMs: Math.max(adaptive.longestLatencyMs, unbatched.longestLatencyMs),
};

function inTime(run: StrategyRun): (readonly [number, number])[] {
  return run.windows.map((window: Window) => [
    window.atSeconds,
    (window.answers - window.defaults) / settings.windowSeconds,
  ]);
}

/** Enough to draw from, and the file stays readable. */
function fiveDigits(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;
}

/** The load as a line of steps. */
function offered(): (readonly [number, number])[] {
  return settings.stages.flatMap(({ fromSeconds, queriesPerSecond }, at) => [
    [fromSeconds, queriesPerSecond] as const,
    [settings.stages.at(at + 1)?.fromSeconds ?? settings.durationSeconds, queriesPerSecond] as const,
  ]);
}

const figure = renderFigure({
  title: 'AIMD finds the batch size that a 20 ms objective allows',
  subtitle: `Batch of n: ${settings.fixedMs} ms + n × ${settings.itemMs} ms; Poisson arrivals; virtual time, seed ${settings.seed}`,
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
        { name: 'offered', color: 5, dashed: true, points: offered() },
        { name: 'in time, AIMD', color: 0, points: inTime(adaptive) },
        {
          name: 'computed, no batching (late ones too)',
          color: 1,
          dashed: true,
          points: unbatched.batches.map((at) => [
            at.atSeconds,
            (at.batches * at.meanSize) / settings.windowSeconds,
          ]),
        },
      ],
    },
  ],
});

mkdirSync(folder, { recursive: true });
const series = { ...summary, windows: { adaptive, unbatched } };
writeFileSync(join(folder, 'aimd.json'), `${JSON.stringify(series, fiveDigits, 1)}\n`);
writeFileSync(join(folder, 'aimd.svg'), figure);
process.stdout.write(`${JSON.stringify(summary, null, 2)}\n`);
