/**
 * DISB (SJTU-IPADS), an inference benchmark of real-time clients beside best-effort ones, on a simulated card in virtual time:
 * what the real-time requests take under every scheduling policy, over the same requests without the best-effort clients, and
 * the throughput of all. Workloads A to E and REAL are made to DISB's description and statistics, or read from its files;
 * models are kernel lists made from their architectures and held to the latencies that DISB published, or tables of one's own.
 * Writes disb.json and disb.svg, and prints the tables.
 * Usage: npm run experiment disb -- [--workloads FOLDER] [--tables FOLDER] [--device CARD] [--seconds N]
 *   [--only A,B] [--policies fifo,killRestart] [--seed N] [--folder FOLDER]
 */
import { EXPERIMENTS } from './experimentList.js';
import { experimentArguments } from './experimentArguments.js';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { profileNamed } from '../../simulator/gpu/index.js';
import {
  RowWorks,
  parseKernelTable,
  tableModule,
  type KernelRow,
} from '../../simulator/kernelTable/index.js';
import { SCHEDULING_POLICY_NAMES } from '../../simulator/scheduling/index.js';
import { disbFigure } from './disb/disbFigure.js';
import { kernelLists } from './disb/kernelLists.js';
import { operationVerdicts } from './disb/operationVerdicts.js';
import { MODELS, ownWorkloads } from './disb/ownWorkloads.js';
import { runWorkload, withoutBestEffort, type ServedModel, type WorkloadResult } from './disb/study.js';
import { parseWorkload, type Workload } from './disb/workload.js';

/** The card that kernel lists are of. */
const MEASURED_ON = 'v100';
/** What PICKER found of launches of TVM's kernels: 596 of 609. Of tables that say nothing. */
const TABLE_SHARE = 596 / 609;

const { values: options, seed, folder } = experimentArguments('disb', EXPERIMENTS.disb);

const card = profileNamed(options.device);
const measuredOn = profileNamed(MEASURED_ON);
const seconds = Number(options.seconds);
const verdicts = operationVerdicts(seed);
folder.print('| operation | kernel of the corpus | verdict |\n| --- | --- | --- |\n');
for (const [kind, { kernel, idempotent, cause }] of verdicts) {
  folder.print(`| ${kind} | ${kernel} | ${idempotent ? 'idempotent' : `no (${cause ?? '-'})`} |\n`);
}

const models = servedModels();
const only = options.only?.split(',');
const policies = options.policies?.split(',') ?? SCHEDULING_POLICY_NAMES;
const results: WorkloadResult[] = [];
for (const workload of workloads()) {
  if (only !== undefined && !only.includes(workload.name)) continue;
  const settings = { card, models, seconds: Math.min(seconds, workload.seconds), seed };
  folder.print(
    `\n${workload.name}\n\n| policy | real-time mean, ms | over alone | p50, ms | p99, ms | requests/s of all | of best effort | kills, saves, drains |\n` +
      '| --- | --- | --- | --- | --- | --- | --- | --- |\n',
  );
  const alone = { ...runWorkload(withoutBestEffort(workload), 'fifo', settings), policy: 'alone' };
  const shared = policies.map((policy) => () => runWorkload(workload, policy, settings));
  for (const run of [() => alone, ...shared]) {
    const result = run();
    results.push(result);
    folder.print(lineOf(result, alone));
  }
}
folder.writeJson('disb.json', { seed, device: card.name, seconds, verdicts: [...verdicts], results });
folder.write('disb.svg', disbFigure(results, `${card.name}, ${seconds} s of virtual time, seed ${seed}`));

function lineOf(result: WorkloadResult, alone: WorkloadResult): string {
  const { policy, meanMs, p50Ms, p99Ms, requestsPerSecond, bestEffortPerSecond, preemptions } = result;
  const over = `${meanMs >= alone.meanMs ? '+' : ''}${((meanMs / alone.meanMs - 1) * 100).toFixed(1)} %`;
  const { kills, saves, drains } = preemptions;
  return (
    `| ${policy === 'alone' ? 'alone' : `\`${policy}\``} | ${meanMs.toFixed(2)} | ${result === alone ? '' : over} | ${p50Ms.toFixed(2)} | ${p99Ms.toFixed(2)} ` +
    `| ${requestsPerSecond.toFixed(0)} | ${bestEffortPerSecond.toFixed(0)} | ${kills}, ${saves}, ${drains} |\n`
  );
}

function workloads(): Workload[] {
  const own = ownWorkloads(seed);
  const { workloads: path } = options;
  if (path === undefined) return own;
  return own
    .map(({ name }) => parseWorkload(readFileSync(join(path, `${name}.json`), 'utf8'), `${name}.json`))
    .map((workload) => ({ ...workload, name: workload.name.replace(/\.json$/, '') }));
}

/** Of each model the table that was given, else the list that is made here. */
function servedModels(): ReadonlyMap<string, ServedModel> {
  const works = new RowWorks(measuredOn);
  const lists = kernelLists(measuredOn, verdicts);
  return new Map(
    MODELS.flatMap((name) => {
      const list = lists.get(name);
      if (list === undefined) return [];
      const rows = givenTable(name) ?? list.rows;
      const { inputBytes, outputBytes } = list.model;
      folder.print(
        `${name}: ${rows.length} kernels, ${(rows.reduce((sum, row) => sum + row.durationNs, 0) / 1e6).toFixed(2)} ms, ` +
          `${((rows.reduce((sum, row) => sum + (row.idempotent ?? 0), 0) / rows.length) * 100).toFixed(1)} % idempotent\n`,
      );
      return [[name, { table: tableModule(rows, name, works, card), inputBytes, outputBytes }] as const];
    }),
  );
}

function givenTable(name: string): readonly KernelRow[] | undefined {
  if (options.tables === undefined) return undefined;
  const path = join(options.tables, `${name}.csv`);
  if (!existsSync(path)) return undefined;
  const rows = parseKernelTable(readFileSync(path, 'utf8'), path);
  if (rows.some(({ idempotent }) => idempotent !== undefined)) return rows;
  folder.print(
    `${path} says of no launch whether it is idempotent: ${(TABLE_SHARE * 100).toFixed(1)} % are drawn\n`,
  );
  return rows.map((row) => ({ ...row, idempotent: TABLE_SHARE }));
}
