/**
 * Verdicts on kernels that were not seen while analysis and validator were built, beside the truth. Writes heldOut.md and
 * heldOut.json and prints the table. Usage: npm run experiment idempotency/heldOut [folder]
 */
import {
  evaluateHeldOut,
  heldOutBodies,
  heldOutTable,
} from '../../../simulator/laboratory/verdicts/index.js';
import { ResultFolder } from '../resultFolder.js';
import { systemValidation } from './validation.js';

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
const folder = new ResultFolder('idempotency', process.argv[2]);
folder.write('heldOut.md', text);
folder.writeJson('heldOut.json', results);
