/**
 * What each mechanism of the timing model is good for: launches measured on an H200, held against the model whole and
 * without one mechanism after the other. Writes ablation.json, ablation.md and ablation.svg and prints the table.
 * Usage: npm run experiment gpuTimeAblation -- [--folder FOLDER] [--largest ELEMENTS] [--middle] [--every K] [--keep FILE ... [--kept]] [--part K/N] [--set NAME ...] [--only LAUNCH ...]
 * With --middle, of each kernel of validation and heldOut only the launch of middle length, with --every K of every Kth of
 * these kernels by name. With --keep each launch's times are appended to the first file, and those in any of the files are not worked out again
 * (with --kept, nothing else is told);
 * with --part only the Kth of N launches are worked out and no table is made, so that several processes may share the work.
 */
import {
  MEASURED_SETS,
  type MeasuredLaunch,
  type MeasuredSet,
} from '../../simulator/laboratory/calibration/index.js';
import { MECHANISMS } from '../../simulator/gpu/testing/index.js';
import { cardNamed } from '../../simulator/gpu/index.js';
import {
  AblatedFile,
  ablate,
  launchesOf,
  middleLaunches,
  setErrors,
  type AblatedLaunch,
} from './ablation.js';
import { ablationFigure, ablationTable } from './ablationTables.js';
import { EXPERIMENTS } from './experimentList.js';
import { experimentArguments } from './experimentArguments.js';

const { values: options, folder } = experimentArguments('gpuTimeAblation', EXPERIMENTS.gpuTimeAblation);

const [part, parts] = options.part.split('/').map(Number);
const sets = MEASURED_SETS.filter((set) => options.set.length === 0 || options.set.includes(set));
const card = cardNamed('h200').profile;
const files = options.keep.map((path) => new AblatedFile(path));
const launches = sets
  .flatMap((set) => ofSet(set, launchesOf(set, Number(options.largest))).map((launch) => ({ set, launch })))
  .filter(({ launch }) => options.only.length === 0 || options.only.includes(launch.name));

const done: AblatedLaunch[] = [];
launches.forEach(({ set, launch }, index) => {
  if (index % parts !== part - 1) return;
  const key = `${set}/${launch.name}`;
  let found = files.map(({ known }) => known.get(key)).find((each) => each !== undefined);
  if (found === undefined && options.kept) return;
  if (found === undefined) {
    process.stderr.write(`${index + 1} of ${launches.length}: ${key}\n`);
    found = ablate(set, launch, card);
    files.at(0)?.add(found);
  }
  done.push(found);
});

if (parts === 1) {
  const bySet = sets.map((set) => {
    const own = done.filter((each) => each.set === set);
    return {
      set,
      whole: setErrors(own),
      without: MECHANISMS.map(({ name }) => ({ name, ...setErrors(own, name) })),
    };
  });
  const table = ablationTable(bySet);
  folder.writeJson('ablation.json', { largestBuffer: Number(options.largest), sets: bySet });
  folder.write('ablation.md', table);
  folder.write('ablation.svg', ablationFigure(bySet));
  process.stdout.write(table);
}

function ofSet(set: MeasuredSet, launches: readonly MeasuredLaunch[]): readonly MeasuredLaunch[] {
  if (set === 'reference') return launches;
  const kernels = [...new Set(launches.map(({ spec }) => spec.kernel))].sort();
  const asked = new Set(kernels.filter((_, index) => index % Number(options.every) === 0));
  const own = launches.filter(({ spec }) => asked.has(spec.kernel));
  return options.middle ? middleLaunches(own) : own;
}
