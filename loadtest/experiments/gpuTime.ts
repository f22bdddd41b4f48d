/**
 * How much the timing model's fitted figures matter, and how well it tells a kernel that they were not fitted on: the
 * launches measured on an H200, held against the model with each figure a fifth lower and higher, and with all of them
 * fitted again without one kernel at a time. Writes gpuTime.json and gpuTime.md and prints the tables.
 * The fit asks a stand-in of the model (separableModel.ts), the errors are the model's own.
 * Usage: npm run experiment gpuTime -- [--folder FOLDER] [--largest ELEMENTS] [--rounds N] [--no-leave-one-out] [--keep FILE ...] [--part K/N]
 * With --keep what was worked out is appended to the first file and read from all; with --part only the Kth of N parts of the
 * launches are, first under moved figures and, in a second run once all parts are there, under the fits: no table is made.
 */
import { fileURLToPath } from 'node:url';
import { largestBuffer, measuredLaunches } from '../../simulator/laboratory/calibration/index.js';
import { cardNamed } from '../../simulator/gpu/index.js';
import { fittedFigures } from './fittedFigures.js';
import {
  fitsWithoutEach,
  isFelt,
  leftOut,
  meanError,
  sensitivities,
  type Evaluate,
  type Values,
} from './figureSearch.js';
import { gpuTimeTables } from './gpuTimeTables.js';
import { KeptTimes } from './keptTimes.js';
import { EXPERIMENTS } from './experimentList.js';
import { experimentArguments } from './experimentArguments.js';
import { askedValues, separableModel } from './separableModel.js';

const LAUNCHES = fileURLToPath(new URL('../../../simulator/gpu/reference/launches', import.meta.url));

const { values: options, folder } = experimentArguments('gpuTime', EXPERIMENTS.gpuTime);

const largest = countOf('largest', options.largest);
const rounds = countOf('rounds', options.rounds);
const [part, parts] = options.part.split('/').map(Number);
const card = cardNamed('h200');
const figures = fittedFigures(card);
const launches = measuredLaunches(LAUNCHES).filter((launch) => largestBuffer(launch) <= largest);
const own = launches.filter((_, index) => index % parts === part - 1);
const times = new KeptTimes(card.profile, launches, options.keep);
const asked = askedValues(figures);
times.workOut(own, () => asked);
if (!asked.every((values) => times.has(values))) {
  process.stderr.write('The other parts are not there yet; run this one again then.\n');
  process.exit(0);
}

const whole = (some: Values): Values => ({ ...asked[0], ...some });
const evaluate: Evaluate = (values) => times.evaluate(whole(values));
const base = evaluate(asked[0]);
const moved = sensitivities(figures, evaluate);
// The others change none of these launches, so that no fit could tell what they should be.
const felt = moved.filter(isFelt);
const stand = separableModel(felt, evaluate);
const fits = options['no-leave-one-out'] ? [] : fitsWithoutEach(felt, stand, rounds);
times.workOut(own, ({ spec }) =>
  fits.filter(({ kernel }) => kernel === spec.kernel).map(({ found }) => whole(found)),
);
if (parts > 1) process.exit(0);
const result = {
  launches: launches.length,
  largestBuffer: largest,
  rounds,
  meanOfKernels: meanError(base),
  sensitivities: moved,
  leftOut: fits.map((fit) => leftOut(felt, fit, (values) => times.evaluate(whole(values), fit.kernel))),
};
const tables = gpuTimeTables(result);
folder.writeJson('gpuTime.json', { ...result, launchErrors: base });
folder.write('gpuTime.md', tables);
process.stdout.write(tables);

function countOf(name: string, text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1) return count;
  process.stderr.write(`--${name}: '${text}' is not a whole number above 0\n`);
  process.exit(2);
}
