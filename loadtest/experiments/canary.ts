/**
 * What becomes of candidates that are worse, equal, better, slower or failing: the policy canary, as it is served, on 100 seeds. No
 * clock. Writes canary.json and canary.svg.
 * Usage: npm run experiment canary [-- --seed N] [--folder FOLDER]
 */
import { EXPERIMENTS } from './experimentList.js';
import { experimentArguments } from './experimentArguments.js';
import { differenceOf, endedWithin, PAIRS, tryWithSeeds, usualTrial } from './canaryExperiment.js';
import { canaryFigure } from './canaryFigure.js';

const { seed, folder } = experimentArguments('canary', EXPERIMENTS.canary);
const size = { seed, seeds: 100, queries: 40_000, within: 2000 };
const rows = PAIRS.map((pair) => ({
  ...tryWithSeeds(pair, size.queries, size.seeds, seed),
  ...differenceOf(pair),
}));
folder.writeJson('canary.json', {
  ...size,
  rows: rows.map(({ trials, ...row }) => ({
    ...row,
    trials: trials.map(({ phase, queries, served }) => [phase, queries, served]),
  })),
});
folder.write('canary.svg', canaryFigure(size, rows));
folder.print(
  `| candidate | withdrawn within ${size.within} queries | withdrawn | promoted | open after ${size.queries} | queries until then, the middle seed | of them it served |\n`,
);
folder.print('| --- | --- | --- | --- | --- | --- | --- |\n');
for (const row of rows) {
  const [withdrawn, promoted, open] = (['withdrawn', 'promoted', 'ramping'] as const).map((phase) =>
    endedWithin(row, phase, size.queries),
  );
  const usual = usualTrial(row, withdrawn > promoted ? 'withdrawn' : 'promoted');
  const cells = [endedWithin(row, 'withdrawn', size.within), withdrawn, promoted, open];
  folder.print(`| ${[row.name, ...cells, usual?.queries ?? '', usual?.served ?? ''].join(' | ')} |\n`);
}
