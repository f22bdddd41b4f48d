/**
 * `npm run bench [-- http hit latency websocket digits batching python policyFile badInputs adaptive delayed replicas nodes feedback fleet jobs watching cluster] [--json] [--check]`: what serving costs,
 * against servers with nothing in them in the same run, and what batching and replicas bring; each figure with the floor
 * that it is held to. With --json one JSON document a row; with --check the exit code is 1 when a figure does not hold.
 */
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { reasonOf } from '../../simulator/text/index.js';
import { BAD_INPUT_ROWS } from './badInputRows.js';
import { BATCHING_ROWS } from './batchingRows.js';
import { checkTable, holds, type Check } from './check.js';
import { CLUSTER_ROWS } from './clusterRows.js';
import { DIGITS_ROWS } from './digitsRows.js';
import { FEEDBACK_ROWS } from './feedbackRows.js';
import { FLEET_ROWS } from './fleetRows.js';
import { JOB_ROWS } from './jobRows.js';
import type { Bench, Measured, Row } from './rows.js';
import { LANGUAGE_ROWS } from './languageRows.js';
import { POLICY_ROWS } from './policyRows.js';
import { SERVING_ROWS } from './servingRows.js';
import { VIRTUAL_ROWS } from './virtualRows.js';
import { WATCH_ROWS } from './watchRows.js';

const ROWS: readonly Row[] = [
  ...SERVING_ROWS,
  ...DIGITS_ROWS,
  ...BATCHING_ROWS,
  ...LANGUAGE_ROWS,
  ...POLICY_ROWS,
  ...BAD_INPUT_ROWS,
  ...FEEDBACK_ROWS,
  ...VIRTUAL_ROWS,
  ...CLUSTER_ROWS,
  ...FLEET_ROWS,
  ...JOB_ROWS,
  ...WATCH_ROWS,
];

const { values, positionals, legSeconds } = commandLine();
const bench: Bench = {
  options: { legSeconds, warmUpSeconds: Math.min(3, legSeconds) },
  file: (name) => fileURLToPath(new URL(name, import.meta.url)),
};
if (!values.json) {
  process.stdout.write(`Legs of ${legSeconds} s, Node ${process.version}, ${cpus().length} cores\n`);
}

const checks: Check[] = [];
for (const row of ROWS) {
  if (positionals.length > 0 && !namesOf(row).some((name) => positionals.includes(name))) continue;
  for (const measured of await row.run(bench)) {
    print(row, measured);
    checks.push(...measured.checks);
  }
}
if (!values.json) process.stdout.write(`\n${checkTable(checks)}`);
if (values.check && !checks.every(holds)) process.exitCode = 1;

function commandLine() {
  try {
    const { values: switches, positionals: parts } = parseArgs({
      options: { json: { type: 'boolean', default: false }, check: { type: 'boolean', default: false } },
      allowPositionals: true,
    });
    const names = [...new Set(ROWS.flatMap(namesOf))];
    const unknown = parts.find((part) => !names.includes(part));
    if (unknown !== undefined) throw new Error(`there is no part '${unknown}', only ${names.join(', ')}`);
    const given = process.env['BENCH_SECONDS'] ?? '6';
    if (!/^[1-9]\d{0,4}$/.test(given)) {
      throw new Error(`BENCH_SECONDS must be a whole number of seconds from 1, not '${given}'`);
    }
    return { values: switches, positionals: parts, legSeconds: Number(given) };
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n`);
    process.exit(2);
  }
}

function namesOf({ name, group }: Row): readonly string[] {
  return group === undefined ? [name] : [name, group];
}

function print({ name }: Row, measured: Measured): void {
  if (values.json) {
    const machine = { node: process.version, cores: cpus().length, ...bench.options };
    const judged = measured.checks.map((check) => ({ ...check, holds: holds(check) }));
    process.stdout.write(`${JSON.stringify({ part: name, ...measured, checks: judged, ...machine })}\n`);
    return;
  }
  process.stdout.write(`\n${name}: ${measured.title}\n`);
  if (measured.sides.length > 0) {
    line('', ['answers/s', 'CPU us/answer', 'p50 ms', 'p99 ms', 'defaults %', 'errors']);
    for (const side of measured.sides) {
      line(side.name, [
        side.requestsPerSecond.toFixed(0),
        side.cpuUsPerRequest.toFixed(1),
        side.p50Ms.toFixed(3),
        side.p99Ms.toFixed(2),
        (100 * side.defaultShare).toFixed(2),
        String(side.errors),
      ]);
    }
  }
  process.stdout.write(checkTable(measured.checks));
}

function line(name: string, cells: readonly string[]): void {
  process.stdout.write(`  ${name.padEnd(30)}${cells.map((cell) => cell.padStart(14)).join('')}\n`);
}
