/**
 * One load as others have published it, replayed in virtual time, and whether the result has the shape that it should: exit code 1
 * where it has not. Usage: npm run experiment scenarios/NAME [-- --seed N] [--folder FOLDER]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { planReplay, replay } from '../replay/index.js';
import { renderBars } from '../report/index.js';
import type { RunResult } from '../result/index.js';
import { MADE_TRACES, writeTrace } from './madeTraces.js';
import { inTimeShare, meanBatch, type Scenario, type ScenarioRun } from './scenario.js';

const CACHE_BYTES = 32 * 1024 * 1024;

/** Where a scenario leaves its files. */
export interface ScenarioFolder {
  /** On standard output too. */
  print(text: string): void;
  write(name: string, text: string): void;
  writeJson(name: string, value: object): void;
}

/** Prints the table and what was expected; leaves them, a plot of latencies, and the result of each run. */
export async function runScenario(scenario: Scenario, seed: number, kept: ScenarioFolder): Promise<void> {
  kept.print(`${scenario.about}\n\n`);
  const folder = mkdtempSync(join(tmpdir(), 'windjammer-scenario-'));
  try {
    const results: RunResult[] = [];
    for (const run of scenario.runs) results.push(await resultOf(scenario, run, seed, folder));
    kept.print(tableOf(scenario.runs, results));
    results.forEach((result, at) => {
      kept.writeJson(`${scenario.runs[at].name.replace(/\W+/g, '-')}.json`, result);
    });
    kept.write(`${scenario.name}.svg`, plotOf(scenario, results, seed));
    const expectations = scenario.expects(results);
    for (const { text, holds } of expectations)
      kept.print(`- ${holds ? 'as expected' : 'NOT AS EXPECTED'}: ${text}\n`);
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
  const lines = [rows[0], rows[0].map(() => '---'), ...rows.slice(1)];
  return `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n\n`;
}

/** Half of the queries of each run were answered within the first of its bars, 99 of 100 within the second. */
function plotOf({ name, about, runs }: Scenario, results: readonly RunResult[], seed: number): string {
  return renderBars({
    title: `Latency of the scenario ${name}`,
    subtitle: `${about}; virtual time, seed ${seed}`,
    yLabel: 'latency (ms)',
    groups: results.map(({ latency }, at) => ({
      name: runs[at].name,
      bars: [
        { quantile: 'p50', value: latency?.p50Ms ?? 0, color: 4 },
        { quantile: 'p99', value: latency?.p99Ms ?? 0, color: 0 },
      ].map(({ quantile, value, color }) => ({
        name: [quantile],
        value,
        text: value.toPrecision(3),
        color,
      })),
    })),
  });
}
