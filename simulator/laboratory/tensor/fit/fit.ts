/**
 * Says which parameters explain what a card left of every form, or which tile no model explains.
 *   node dist/simulator/laboratory/tensor/fit/fit.js RESULTS_DIR [--only PATTERN] [--all] [--keep FILE]
 * RESULTS_DIR is the runner's. With --all every form is searched through, and it is told how many models no tile tells apart. Exits with 1 where a form failed or is not explained; what is missing can be fetched with the runner's
 * `--chunks`, as printed.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readRun } from '../card/results.js';
import type { Model } from '../../../tensor/index.js';
import { reportOf, type FormReport } from './report.js';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', default: '' },
    keep: { type: 'string' },
    all: { type: 'boolean', default: false },
  },
});
const [folder] = positionals;
if (folder === undefined) {
  process.stderr.write('usage: fit.js RESULTS_DIR [--only PATTERN] [--all] [--keep FILE]\n');
  process.exitCode = 1;
} else fit(folder);

function fit(from: string): void {
  const run = readRun(from);
  const pattern = new RegExp(options.only);
  const known: Model[] = [];
  const reports: FormReport[] = [];
  for (const entry of run.entries) {
    if (entry.kind !== 'form' || !pattern.test(entry.name)) continue;
    const report = reportOf(from, entry, { known, isExhaustive: options.all });
    reports.push(report);
    if (report.status === 'explained' && report.model !== undefined && !known.includes(report.model))
      known.push(report.model);
    process.stdout.write(`${line(report)}\n`);
  }
  const count = (status: FormReport['status']): number =>
    reports.filter((report) => report.status === status).length;
  process.stdout.write(
    `${run.card}: ${count('explained')} forms explained, ${count('unexplained')} not, ${count('failed')} failed\n`,
  );
  const missing = reports.flatMap(({ name, otherChunks }) =>
    otherChunks.slice(0, 2).map((chunk) => `${name}:${chunk}`),
  );
  if (missing.length > 0) process.stdout.write(`--chunks '${missing.join(';')}'\n`);
  if (options.keep !== undefined) {
    const { card, driver, ptxas } = run;
    writeFileSync(options.keep, `${JSON.stringify({ card, driver, ptxas, forms: reports }, undefined, 1)}\n`);
  }
  if (count('explained') < reports.length) process.exitCode = 1;
}

function line({ name, status, reason, model, equivalent, difference, tiles }: FormReport): string {
  const parts = [`${name}: ${status}, ${tiles} tiles`];
  if (reason !== undefined) parts.push(reason);
  if (model !== undefined) parts.push(JSON.stringify(model));
  if (equivalent !== undefined && equivalent > 1) parts.push(`${equivalent} models alike`);
  if (difference !== undefined) {
    const { tile, element, card, model: ours } = difference;
    parts.push(`${tile}, element ${element}: the card has ${card}, the model ${ours}`);
  }
  return parts.join('; ');
}
