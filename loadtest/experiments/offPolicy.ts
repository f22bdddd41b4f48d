/**
 * How often the intervals of off-policy estimates hold the true loss: policies that stay as they are and that learn, judged from
 * logs of three others. No clock. Writes offPolicy.json and offPolicy.svg.
 * Usage: npm run experiment offPolicy [-- --seed N] [--folder FOLDER]
 */
import { EXPERIMENTS } from './experimentList.js';
import { experimentArguments } from './experimentArguments.js';
import { offPolicyFigure } from './offPolicyFigure.js';
import { coverageOf, LOGGERS, TARGETS } from './offPolicyExperiment.js';

const { seed, folder } = experimentArguments('offPolicy', EXPERIMENTS.offPolicy);
const size = { seed, logs: 1000, queries: 1000 };
const rows = LOGGERS.flatMap((logger) => TARGETS.flatMap((target) => coverageOf(logger, target, size)));
folder.writeJson('offPolicy.json', { ...size, rows });
folder.write('offPolicy.svg', offPolicyFigure(size, rows));
folder.print(
  '| log | policy | estimator | covered | true loss | mean estimate | ± | effective | refused |\n',
);
folder.print('| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n');
for (const row of rows) {
  const { logger, target, estimator, covered, truth, mean, reach, effectiveSamples, refused } = row;
  const numbers = [truth, mean, reach].map((value) => value.toFixed(4));
  folder.print(
    `| ${[logger, target, estimator, `${(covered * 100).toFixed(1)} %`, ...numbers, effectiveSamples.toFixed(0), refused].join(' | ')} |\n`,
  );
}
