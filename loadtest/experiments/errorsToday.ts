/**
 * Writes the table of errors in simulator/gpu/profiles/h200.md, under the current directory, from what
 * `windjammer gpu calibrate --set SET --json > FILE` printed.
 * Usage: npm run experiment errorsToday NAME=FILE.json...
 */
import { EXPERIMENTS } from './experimentList.js';
import { ArgumentError, experimentArguments } from './experimentArguments.js';
import { readFileSync, writeFileSync } from 'node:fs';
import { withErrorTable, type CalibrationReport } from '../../simulator/laboratory/calibration/index.js';

const PAGE = 'simulator/gpu/profiles/h200.md';

const { words } = experimentArguments('errorsToday', EXPERIMENTS.errorsToday);
const sets = words.map((argument) => {
  const at = argument.lastIndexOf('=');
  if (at < 1)
    throw new ArgumentError(`'${argument}': expected NAME=FILE.json, the file from gpu calibrate --json`);
  const text = readFileSync(argument.slice(at + 1), 'utf8');
  return { set: argument.slice(0, at), report: JSON.parse(text) as CalibrationReport };
});
if (sets.length === 0) throw new ArgumentError('expected NAME=FILE.json, once for each set');
writeFileSync(PAGE, withErrorTable(readFileSync(PAGE, 'utf8'), sets));
