/**
 * Latency by batch size of the five digit models, and the batching strategies against each other at a 20 ms objective, in
 * virtual time (Clipper's figures 3 and 4). Writes JSON and SVG files, and prints the tables.
 * Usage: npm run experiment batchLatency [-- --seed N] [--folder FOLDER]
 */
import { EXPERIMENTS } from './experimentList.js';
import { experimentArguments } from './experimentArguments.js';
import { BUILT_IN_MODELS } from '../../containers/models/index.js';
import {
  OBJECTIVE_MS,
  compareStrategies,
  digitsComparisons,
  latencyProfile,
  syntheticComparisons,
  type ModelComparison,
} from './batchLatencyExperiment.js';
import { convergenceFigure, profileFigure, strategyFigure } from './batchLatencyFigure.js';

const { seed, folder } = experimentArguments('batchLatency', EXPERIMENTS.batchLatency);

const profiles = BUILT_IN_MODELS.map(latencyProfile);
folder.writeJson('profiles.json', { seed, device: 'h200', profiles });
folder.write('profiles.svg', profileFigure(profiles));
folder.print(
  '| model | 1 | 16 | 64 | 256 (µs) | fixed (µs) | per item (µs) | r² |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n',
);
for (const { name, points, fixedUs, itemUs, r2 } of profiles) {
  const at = (size: number) => points.find(({ batchSize }) => batchSize === size)?.latencyUs.toFixed(1) ?? '';
  folder.print(
    `| ${name} | ${at(1)} | ${at(16)} | ${at(64)} | ${at(256)} | ${fixedUs.toFixed(1)} | ${itemUs.toFixed(3)} | ${r2.toFixed(3)} |\n`,
  );
}

const synthetic = syntheticComparisons(seed).map(compareStrategies);
print(synthetic);
folder.writeJson('strategies.json', {
  seed,
  objectiveMs: OBJECTIVE_MS,
  comparisons: summaries(synthetic),
});
folder.write('strategies.svg', strategyFigure(synthetic, seed));
folder.write('convergence.svg', convergenceFigure(synthetic[1], seed));

const digits = digitsComparisons(BUILT_IN_MODELS, seed).map(compareStrategies);
print(digits);
folder.writeJson('digits.json', { seed, objectiveMs: OBJECTIVE_MS, comparisons: summaries(digits) });

function summaries(comparisons: readonly ModelComparison[]): object[] {
  return comparisons.map(({ name, description, offeredPerSecond, results, runs }) => ({
    name,
    description,
    offeredPerSecond,
    results,
    limits: runs.map(({ strategy, batches }) => ({ strategy, limits: batches.map(({ limit }) => limit) })),
  }));
}

function print(comparisons: readonly ModelComparison[]): void {
  folder.print(
    '\n| model | strategy | in time (1/s) | gain | defaults | mean batch | p50 / p99 (ms) | batch p99 (ms) |\n' +
      '| --- | --- | --- | --- | --- | --- | --- | --- |\n',
  );
  for (const { name, offeredPerSecond, results } of comparisons) {
    results.forEach((one, at) => {
      const label = at === 0 ? `${name}, ${offeredPerSecond}/s` : '';
      folder.print(
        `| ${label} | ${one.strategy} | ${one.inTimePerSecond.toFixed(0)} | ${one.gain.toPrecision(3)} x ` +
          `| ${(100 * one.defaultShare).toFixed(1)} % | ${one.meanBatchSize.toPrecision(3)} ` +
          `| ${one.p50Ms.toPrecision(3)} / ${one.p99Ms.toPrecision(3)} | ${one.serviceP99Ms.toPrecision(3)} |\n`,
      );
    });
  }
}
