/**
 * Verdicts of the launch-time validator on the frozen corpus, beside the truth: by family and cause, as PICKER's Tables 3 and 5,
 * without and with the allocation bound. Writes table.md and table.json and prints the table.
 * Usage: npm run experiment idempotency/table -- [--folder FOLDER] [--mode compacted|ranges|strawman] [--solver z3]
 */
import { experimentArguments } from '../experimentArguments.js';
import { EXPERIMENTS } from '../experimentList.js';
import { evaluate, evaluationTable, labelledBodies } from '../../../simulator/laboratory/verdicts/index.js';
import { VALIDATOR_MODES } from '../../../simulator/laboratory/validatorModes/index.js';
import { solverFacts } from './solverFacts.js';
import { systemValidation } from './validation.js';

const { values: options, folder } = experimentArguments(
  'idempotency/table',
  EXPERIMENTS['idempotency/table'],
);
const mode = VALIDATOR_MODES.find((each) => each === options.mode);
if (mode === undefined) throw new Error(`--mode ${options.mode}: give one of ${VALIDATOR_MODES.join(', ')}`);

const bodies = labelledBodies();
const facts = await solverFacts(options.solver, bodies);
const results = [false, true].map((allocationBound) => ({
  allocationBound,
  evaluation: evaluate(systemValidation({ mode, allocationBound }, facts), bodies),
}));
const text = results
  .map(
    ({ allocationBound, evaluation }) =>
      `## ${mode}, ${allocationBound ? 'unknown indices stay in their allocation' : 'arguments alone'}\n\n` +
      `${evaluation.instances} launches of ${bodies.length} bodies, ${evaluation.aliased} with shared allocations\n\n` +
      `${evaluationTable(evaluation)}\n`,
  )
  .join('\n');
process.stdout.write(text);
folder.write('table.md', text);
folder.writeJson('table.json', {
  mode,
  results: results.map(({ allocationBound, evaluation: { families, contradictions, ...totals } }) => ({
    allocationBound,
    ...totals,
    contradictions,
    families,
  })),
});
