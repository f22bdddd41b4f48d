/**
 * Asks a real card what every form of `forms/` gives.
 *   node dist/simulator/laboratory/instructions/probeCard.js write DIR
 * writes what `card.cu` runs. On a machine with the card, in DIR: `for m in m*.ptx; do ptxas -arch=sm_90 -o ${m%.ptx}.cubin $m; done`,
 * then card.cu as its head says, which takes the number of cases that `write` prints. Here again,
 *   node dist/simulator/laboratory/instructions/probeCard.js read RESULTS [--keep]
 * tells which forms are new or other than in results.json, and with --keep adds the new ones to it. What is other is never
 * replaced: either the card or the definition of the form has changed, and somebody has to say which.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageRoot } from '../../files/index.js';
import { storedResults } from './cardResults.js';
import { allForms } from './forms/index.js';
import { writeProbes } from './writeProbes.js';

const KEPT = join(packageRoot(), 'simulator/laboratory/instructions/results.json');
const USAGE = 'usage: probeCard.js write DIR | probeCard.js read RESULTS [--keep]\n';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { keep: { type: 'boolean', default: false } },
});
const [verb, path] = positionals;
const kept = JSON.parse(readFileSync(KEPT, 'utf8')) as { cases: number; results: Record<string, string> };
if (path !== undefined && verb === 'write') {
  writeProbes(path);
  process.stdout.write(`${allForms.length} forms, ${kept.cases} cases each\n`);
} else if (path !== undefined && verb === 'read') {
  read(path);
} else {
  process.stderr.write(USAGE);
  process.exitCode = 1;
}

function read(file: string): void {
  const { buffer, byteOffset, length } = readFileSync(file);
  const words = new BigUint64Array(buffer.slice(byteOffset, byteOffset + length));
  const stored = storedResults(allForms, words, kept.cases);
  const told = [...stored];
  const missing = allForms.filter(({ name }) => !stored.has(name));
  const fresh = told.filter(([name]) => kept.results[name] === undefined);
  const other = told.filter(([name, text]) => (kept.results[name] ?? text) !== text);
  for (const { name } of missing) process.stdout.write(`did not run: ${name}\n`);
  for (const [name] of fresh) process.stdout.write(`new: ${name}\n`);
  for (const [name, text] of other)
    process.stdout.write(`other: ${name}: ${text}, kept: ${kept.results[name]}\n`);
  process.stdout.write(`${told.length} forms, ${fresh.length} new, ${other.length} other\n`);
  if (options.keep && fresh.length > 0) {
    Object.assign(kept.results, Object.fromEntries(fresh));
    writeFileSync(KEPT, `${JSON.stringify(kept, undefined, 1)}\n`);
  }
  if (other.length > 0 || missing.length > 0) process.exitCode = 1;
}
