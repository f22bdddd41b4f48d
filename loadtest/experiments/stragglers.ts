/**
 * Ensembles of 1 to 16 random forests under load, answered at the deadline with what has arrived or with all of it, in
 * virtual time (Clipper's figure 9). Writes stragglers.json and stragglers.svg, and prints the table.
 * Usage: npm run experiment stragglers [-- --seed N] [--folder FOLDER]
 */
import { EXPERIMENTS } from './experimentList.js';
import { experimentArguments } from './experimentArguments.js';
import { forestEnsemble, loadDigits, predictions } from '../../containers/models/index.js';
import { STRAGGLER_SETTINGS, runStragglers } from './stragglerExperiment.js';
import { stragglerFigure } from './stragglerFigure.js';
import { percent } from '../../simulator/text/index.js';

const SIZES = [1, 2, 4, 6, 8, 10, 12, 14, 16];

const { seed, folder } = experimentArguments('stragglers', EXPERIMENTS.stragglers);
const split = loadDigits();
const forests = forestEnsemble(Math.max(...SIZES), seed, split);
const models = forests.map((forest) => ({ name: forest.name, labels: predictions(forest, split.heldOut) }));
const run = (objectiveMs: number | undefined) =>
  SIZES.map((size) =>
    runStragglers({ ...STRAGGLER_SETTINGS, objectiveMs }, models.slice(0, size), split.heldOut.labels, seed),
  );
const mitigated = run(STRAGGLER_SETTINGS.objectiveMs);
const waiting = run(undefined);
folder.writeJson('stragglers.json', {
  seed,
  settings: STRAGGLER_SETTINGS,
  forests: forests.map(({ name, error }) => ({ name, error })),
  mitigated,
  waiting,
});
folder.write('stragglers.svg', stragglerFigure(STRAGGLER_SETTINGS, mitigated, waiting));

folder.print(
  '| models | all: mean / p99 / longest (ms) | deadline: mean / p99 / longest (ms) | missing | missing, p99 | defaults | accuracy, all | accuracy, deadline |\n' +
    '| --- | --- | --- | --- | --- | --- | --- | --- |\n',
);
mitigated.forEach((one, at) => {
  const all = waiting[at];
  folder.print(
    `| ${one.models} | ${all.meanMs.toFixed(1)} / ${all.p99Ms.toFixed(1)} / ${all.longestMs.toFixed(0)} ` +
      `| ${one.meanMs.toFixed(1)} / ${one.p99Ms.toFixed(1)} / ${one.longestMs.toFixed(1)} | ${percent(one.missingShare, 2)} ` +
      `| ${percent(one.missingP99, 2)} | ${percent(one.defaultShare, 2)} | ${percent(all.accuracy, 2)} | ${percent(one.accuracy, 2)} |\n`,
  );
});
