/**
 * How much the timing model's fitted figures matter, and how well it tells a kernel that they were not fitted on: the
 * launches measured on an H200, held against the model with each figure a fifth lower and higher, and with all of them
 * fitted again without one kernel at a time. Writes gpuTime.json and gpuTime.md and prints the tables.
 * The fit asks a stand-in of the model (separableModel.ts), the errors are the model's own.
 * Usage: node dist/loadtest/experiments/gpuTime.js [folder] [--largest ELEMENTS] [--rounds N] [--no-leave-one-out]
 */
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { largestBuffer, measuredLaunches } from '../../simulator/calibration/index.js';
import { cardNamed } from '../../simulator/gpu/index.js';
import { fittedFigures, withFigures } from './fittedFigures.js';
import { isFelt, leaveOneOut, meanError, remembered, sensitivities } from './figureSearch.js';
import { gpuTimeTables } from './gpuTimeTables.js';
import { ModelEvaluator } from './modelEvaluator.js';
import { ResultFolder } from './resultFolder.js';
import { separableModel } from './separableModel.js';

const LAUNCHES = fileURLToPath(new URL('../../../simulator/gpu/reference/launches', import.meta.url));

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    largest: { type: 'string', default: String(2 ** 27) },
    rounds: { type: 'string', default: '3' },
    'no-leave-one-out': { type: 'boolean', default: false },
  },
});

const largest = countOf('largest', options.largest);
const rounds = countOf('rounds', options.rounds);
const card = cardNamed('h200');
const figures = fittedFigures(card);
const launches = measuredLaunches(LAUNCHES).filter((launch) => largestBuffer(launch) <= largest);
const evaluator = new ModelEvaluator(launches);
const evaluate = remembered((values) => evaluator.evaluate(withFigures(card.profile, values)));
const values = Object.fromEntries(figures.map(({ name, value }) => [name, value]));
const base = evaluate(values);

const moved = sensitivities(figures, evaluate);
// The others change none of these launches, so that no fit could tell what they should be.
const felt = moved.filter(isFelt);
const result = {
  launches: launches.length,
  largestBuffer: largest,
  rounds,
  meanOfKernels: meanError(base),
  sensitivities: moved,
  leftOut: options['no-leave-one-out']
    ? []
    : leaveOneOut(felt, separableModel(felt, evaluate), rounds, (at, kernel) =>
        evaluator.evaluate(withFigures(card.profile, at), kernel),
      ),
};
const folder = new ResultFolder('gpuTime', positionals[0]);
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
