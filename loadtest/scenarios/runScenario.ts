/**
 * One load as others have published it, replayed in virtual time, and whether the result has the shape that it should: exit code 1
 * where it has not. Usage: npm run experiment scenarios/NAME [-- --seed N] [--folder FOLDER], which keeps the results as JSON
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { planReplay, replay } from '../replay/index.js';
import { resultJson, type RunResult } from '../result/index.js';
import { MADE_TRACES, writeTrace } from './madeTraces.js';
import { inTimeShare, meanBatch, type Scenario, type ScenarioRun } from './scenario.js';

const CACHE_BYTES = 32 * 1024 * 1024;

/** @param scenario what is run; options are those of the command line */
export async function runScenario(scenario: Scenario): Promise<void> {
  const { values } = parseArgs({
    options: { seed: { type: 'string', default: '1' }, folder: { type: 'string' } },
  });
  if (!/^\d{1,9}$/.test(values.seed))
    throw new RangeError(`--seed must be a whole number, not '${values.seed}'`);
  process.stdout.write(`${scenario.about}\n\n`);
  const folder = mkdtempSync(join(tmpdir(), 'windjammer-scenario-'));
  try {
    const results: RunResult[] = [];
    for (const run of scenario.runs) results.push(await resultOf(scenario, run, Number(values.seed), folder));
    process.stdout.write(tableOf(scenario.runs, results));
    if (values.folder !== undefined) keep(values.folder, scenario.runs, results);
    const expectations = scenario.expects(results);
    for (const { text, holds } of expectations)
      process.stdout.write(`${holds ? 'as expected' : 'NOT AS EXPECTED'}: ${text}\n`);
    if (!expectations.every(({ holds }) => holds)) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function resultOf(
  { config }: Scenario,
  { trace, seconds, scale = 1, replicas, policy, repeats, feedback = 0 }: ScenarioRun,
  seed: number,
  folder: string,
): Promise<RunResult> {
  const files = { config: join(folder, 'config.json'), trace: join(folder, `${trace}.csv`) };
  if (config !== undefined) writeFileSync(files.config, JSON.stringify(config));
  const isMade = Object.hasOwn(MADE_TRACES, trace);
  if (isMade) writeTrace(files.trace, MADE_TRACES[trace](), seconds, seed);
  const settings = await planReplay({
    trace: isMade ? files.trace : trace,
    seed,
    scale,
    durationSeconds: seconds,
    feedback: { share: feedback, delayMs: 100 },
    cacheBytes: CACHE_BYTES,
    ...(config === undefined ? {} : { config: files.config }),
    ...(replicas === undefined ? {} : { replicas }),
    ...(policy === undefined ? {} : { policy }),
    ...(repeats === undefined ? {} : { repeats }),
  });
  return (await replay(settings)).result;
}

function tableOf(runs: readonly ScenarioRun[], results: readonly RunResult[]): string {
  const rows = [
    ['run', 'queries/s', 'p50 ms', 'p99 ms', 'in time %', 'mean batch'],
    ...results.map((result, at) => [
      runs[at].name,
      result.offeredPerSecond.toFixed(0),
      (result.latency?.p50Ms ?? 0).toFixed(2),
      (result.latency?.p99Ms ?? 0).toFixed(2),
      (inTimeShare(result) * 100).toFixed(2),
      meanBatch(result).toFixed(2),
    ]),
  ];
  return `${rows.map(([name, ...cells]) => `${name.padEnd(20)}${cells.map((cell) => cell.padStart(12)).join('')}`).join('\n')}\n\n`;
}

function keep(folder: string, runs: readonly ScenarioRun[], results: readonly RunResult[]): void {
  mkdirSync(folder, { recursive: true });
  results.forEach((result, at) => {
    writeFileSync(join(folder, `${runs[at].name.replace(/\W+/g, '-')}.json`), resultJson(result));
  });
}
