/**
 * Holds every access to global memory of the system's own launches to what was predicted of its instruction: all CUDA programs of
 * simulator/laboratory/kernels, all built-in models with their warm-up and batches, the documentation's specs, and the launches that were
 * measured on a card, up to a size. Prints what it saw; ends with status 1 when an access was not predicted.
 * Usage: npm run experiment idempotency/cover -- [--threads MOST]
 */
import { experimentArguments } from '../experimentArguments.js';
import { EXPERIMENTS } from '../experimentList.js';
import { BUILT_IN_MODELS } from '../../../containers/models/index.js';
import { kernelFixtures } from '../../../simulator/laboratory/kernels/index.js';
import { emptyCover, type CoverTotals } from './coveringExecutor.js';
import { coverFixture, coverModel, coverSpec, exampleSpecs } from './coverSuite.js';

const { values: options, folder } = experimentArguments(
  'idempotency/cover',
  EXPERIMENTS['idempotency/cover'],
);
const BATCHES = [1, 3, 16, 33];

const parts: readonly (readonly [string, (totals: CoverTotals) => void])[] = [
  [
    'CUDA programs',
    (totals) => {
      for (const fixture of kernelFixtures) coverFixture(fixture, totals);
    },
  ],
  [
    'models',
    (totals) => {
      for (const model of BUILT_IN_MODELS) coverModel(model, BATCHES, totals);
    },
  ],
  [
    'specs',
    (totals) => {
      for (const spec of exampleSpecs(Number(options.threads))) coverSpec(spec, totals);
    },
  ],
];

let outside = 0;
folder.print(
  '| launches of | kernels | runs | accesses | of them with any address predicted | runs not seen | outside |\n',
);
folder.print('| --- | --- | --- | --- | --- | --- | --- |\n');
for (const [name, cover] of parts) {
  const totals = emptyCover();
  cover(totals);
  const { runs, kernels, accesses, open, unseen, uncovered } = totals;
  const share = ((100 * open) / accesses).toFixed(1);
  folder.print(
    `| ${name} | ${kernels.size} | ${runs} | ${accesses} | ${share} % | ${unseen} | ${uncovered.length} |\n`,
  );
  for (const each of uncovered) folder.print(`${JSON.stringify(each)}\n`);
  outside += uncovered.length;
}
if (outside > 0) process.exitCode = 1;
