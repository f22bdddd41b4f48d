/**
 * Verdicts on kernels that were not seen while analysis and validator were built, beside the truth. Writes heldOut.md and
 * heldOut.json and prints the table. Usage: npm run experiment idempotency/heldOut [-- --folder FOLDER]
 */
import { experimentArguments } from '../experimentArguments.js';
import { EXPERIMENTS } from '../experimentList.js';
import {
  evaluateHeldOut,
  heldOutBodies,
  heldOutTable,
} from '../../../simulator/laboratory/verdicts/index.js';
import { systemValidation } from './validation.js';

const { folder } = experimentArguments('idempotency/heldOut', EXPERIMENTS['idempotency/heldOut']);
const bodies = heldOutBodies();
const results = [false, true].map((allocationBound) => ({
  allocationBound,
  sources: evaluateHeldOut(systemValidation({ allocationBound }), bodies),
}));
const text = results
  .map(
    ({ allocationBound, sources }) =>
      `## ${allocationBound ? 'Unknown indices stay in their allocation' : 'Arguments alone'}\n\n${heldOutTable(sources)}\n`,
  )
  .join('\n');
process.stdout.write(text);
folder.write('heldOut.md', text);
folder.writeJson('heldOut.json', results);
