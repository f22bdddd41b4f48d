/**
 * Latency by batch size of the five digit models, and the batching strategies against each other at a 20 ms objective, in
 * virtual time (Clipper's figures 3 and 4). Writes JSON and SVG files, and prints the tables.
 * Usage: npm run experiment batchLatency [folder]
 */
import { BUILT_IN_MODELS } from '../../containers/models/index.js';
import {
  OBJECTIVE_MS,
  SEED,
  compareStrategies,
  digitsComparisons,
  latencyProfile,
  syntheticComparisons,
  type ModelComparison,
} from './batchLatencyExperiment.js';
import { convergenceFigure, profileFigure, strategyFigure } from './batchLatencyFigure.js';
import { ResultFolder } from './resultFolder.js';

const folder = new ResultFolder('batching', process.argv[2]);

const profiles = BUILT_IN_MODELS.map(latencyProfile);
folder.writeJson('profiles.json', { seed: SEED, device: 'h200', profiles });
folder.write('profiles.svg', profileFigure(profiles));
process.stdout.write(
  '| model | 1 | 16 | 64 | 256 (µs) | fixed (µs) | per item (µs) | r² |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n',
);
for (const { name, points, fixedUs, itemUs, r2 } of profiles) {
  const at = (size: number) => points.find(({ batchSize }) => batchSize === size)?.latencyUs.toFixed(1) ?? '';
  process.stdout.write(
    `| ${name} | ${at(1)} | ${at(16)} | ${at(64)} | ${at(256)} | ${fixedUs.toFixed(1)} | ${itemUs.toFixed(3)} | ${r2.toFixed(3)} |\n`,
  );
}

const synthetic = syntheticComparisons().map(compareStrategies);
print(synthetic);
folder.writeJson('strategies.json', {
  seed: SEED,
  objectiveMs: OBJECTIVE_MS,
  comparisons: summaries(synthetic),
});
folder.write('strategies.svg', strategyFigure(synthetic));
folder.write('convergence.svg', convergenceFigure(synthetic[1]));

const digits = digitsComparisons(BUILT_IN_MODELS).map(compareStrategies);
print(digits);
folder.writeJson('digits.json', { seed: SEED, objectiveMs: OBJECTIVE_MS, comparisons: summaries(digits) });

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
  process.stdout.write(
    '\n| model | strategy | in time (1/s) | gain | defaults | mean batch | p50 / p99 (ms) | batch p99 (ms) |\n' +
      '| --- | --- | --- | --- | --- | --- | --- | --- |\n',
  );
  for (const { name, offeredPerSecond, results } of comparisons) {
    results.forEach((one, at) => {
      const label = at === 0 ? `${name}, ${offeredPerSecond}/s` : '';
      process.stdout.write(
        `| ${label} | ${one.strategy} | ${one.inTimePerSecond.toFixed(0)} | ${one.gain.toPrecision(3)} x ` +
          `| ${(100 * one.defaultShare).toFixed(1)} % | ${one.meanBatchSize.toPrecision(3)} ` +
          `| ${one.p50Ms.toPrecision(3)} / ${one.p99Ms.toPrecision(3)} | ${one.serviceP99Ms.toPrecision(3)} |\n`,
      );
    });
  }
}
