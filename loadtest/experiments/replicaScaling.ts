/**
 * One to four replicas of one model, local and over networks of 10 and 1 Gb/s, in virtual time (Clipper's figure 6). Writes
 * replicas.json and replicas.svg, and prints the table.
 * Usage: npm run experiment replicaScaling [-- --seed N] [--folder FOLDER]
 */
import { EXPERIMENTS } from './experimentList.js';
import { experimentArguments } from './experimentArguments.js';
import { FRONTEND_COSTS, OBJECTIVE_MS, SCALING_CASES, runScalingCase } from './replicaScalingExperiment.js';
import { replicaScalingFigure } from './replicaScalingFigure.js';
import { percent } from '../../simulator/text/index.js';

const { seed, folder } = experimentArguments('replicaScaling', EXPERIMENTS.replicaScaling);
const series = SCALING_CASES.map((one) => runScalingCase(one, 1, 4, seed));
folder.writeJson('replicas.json', {
  seed,
  objectiveMs: OBJECTIVE_MS,
  costs: FRONTEND_COSTS,
  series,
});
folder.write('replicas.svg', replicaScalingFigure(series));

folder.print(
  '| model and network | replicas | in time (1/s) | gain | each (1/s) | defaults | frontend CPU | sent (MB/s) | of the card |\n' +
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n',
);
for (const { name, results } of series) {
  for (const one of results) {
    folder.print(
      `| ${one.replicas === 1 ? name : ''} | ${one.replicas} | ${one.inTimePerSecond.toFixed(0)} ` +
        `| ${(one.inTimePerSecond / results[0].inTimePerSecond).toFixed(2)} x | ${one.perReplicaPerSecond.toFixed(0)} ` +
        `| ${percent(one.defaultShare)} | ${percent(one.frontendCpuShare)} | ${one.sentMbytePerSecond.toFixed(1)} | ${percent(one.cardShare)} |\n`,
    );
  }
}
