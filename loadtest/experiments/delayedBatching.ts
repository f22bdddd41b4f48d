/**
 * What waiting for company brings a batch, by the fixed cost of its model, in virtual time (Clipper's figure 5). Writes
 * delayedBatching.json and delayedBatching.svg, and prints the tables.
 * Usage: npm run experiment delayedBatching [-- --seed N] [--folder FOLDER]
 */
import { EXPERIMENTS } from './experimentList.js';
import { experimentArguments } from './experimentArguments.js';
import { renderFigure } from '../report/index.js';
import {
  DELAYED_MODELS,
  DELAYS_MS,
  FIXED_COSTS_MS,
  OBJECTIVE_MS,
  QUERIES_PER_SECOND,
  gainOfTwoMs,
  runDelays,
  type DelayResult,
} from './delayedBatchingExperiment.js';

const SECONDS = 20;

const { seed, folder } = experimentArguments('delayedBatching', EXPERIMENTS.delayedBatching);
const models = DELAYED_MODELS.map(({ name, profile }) => ({
  name,
  profile,
  results: runDelays(profile, DELAYS_MS, QUERIES_PER_SECOND, SECONDS, seed),
}));
const byFixedCost = FIXED_COSTS_MS.map((fixedMs) => gainOfTwoMs(fixedMs, SECONDS, seed));
folder.writeJson('delayedBatching.json', {
  seed,
  objectiveMs: OBJECTIVE_MS,
  queriesPerSecond: QUERIES_PER_SECOND,
  models,
  byFixedCost,
});
const lines = (of: (one: DelayResult) => number, dashed = false) =>
  models.map(({ name, results }, color) => ({
    name: dashed ? `${name}, p99` : name,
    color,
    dashed,
    points: results.map((one) => [one.delayMs, of(one)] as const),
  }));
folder.write(
  'delayedBatching.svg',
  renderFigure({
    title: 'Delayed batching',
    subtitle: `${QUERIES_PER_SECOND} queries a second, Poisson; AIMD, objective ${OBJECTIVE_MS} ms; virtual time, seed ${seed}`,
    xLabel: 'longest wait for company (ms)',
    panels: [
      { yLabel: "container's throughput (times)", series: lines((one) => one.gain) },
      { yLabel: 'mean batch (items)', series: lines((one) => one.meanBatchSize) },
      {
        yLabel: 'latency (ms)',
        series: [...lines((one) => one.p50Ms), ...lines((one) => one.p99Ms, true)],
      },
    ],
  }),
);

folder.print(
  '| model | delay (ms) | mean batch | container (1/s) | gain | busy | in time (1/s) | p50 / p99 (ms) |\n' +
    '| --- | --- | --- | --- | --- | --- | --- | --- |\n',
);
for (const { name, profile, results } of models) {
  for (const one of results) {
    const label = one.delayMs === 0 ? `${name}: ${profile.fixedMs} ms + n × ${profile.itemMs} ms` : '';
    folder.print(
      `| ${label} | ${one.delayMs} | ${one.meanBatchSize.toFixed(2)} | ${one.containerPerSecond.toFixed(0)} | ${one.gain.toFixed(2)} x ` +
        `| ${(100 * one.busyShare).toFixed(0)} % | ${one.inTimePerSecond.toFixed(0)} | ${one.p50Ms.toFixed(2)} / ${one.p99Ms.toFixed(2)} |\n`,
    );
  }
}
folder.print('\n| fixed cost (ms) | queries a second | gain of 2 ms |\n| --- | --- | --- |\n');
for (const { fixedMs, queriesPerSecond, gain } of byFixedCost) {
  folder.print(`| ${fixedMs} | ${queriesPerSecond} | ${gain.toFixed(2)} x |\n`);
}
