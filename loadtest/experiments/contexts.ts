/**
 * A million contexts in one server, and somebody who invents more: memory, throughput of contexts that come back, latency of those
 * that are read from the store, and what another application sees of an attack. Real time. Writes contexts.json.
 * Usage: npm run experiment contexts [-- --contexts N] [--seconds N] [--seed N] [--folder FOLDER]
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SeededRandom } from '../../simulator/random/index.js';
import { commandFile } from '../../services/cli/index.js';
import { startWindjammer } from '../bench/serverProcess.js';
import {
  APPLICATION,
  closedLoop,
  fill,
  HOT,
  memoryOf,
  register,
  steady,
  userName,
  type Leg,
} from './contextsExperiment.js';
import { EXPERIMENTS } from './experimentList.js';
import { experimentArguments } from './experimentArguments.js';

const { seed, folder, values } = experimentArguments('contexts', EXPERIMENTS.contexts);
const contexts = Number(values.contexts);
const seconds = Number(values.seconds);
const random = new SeededRandom(seed);
const directory = mkdtempSync(join(tmpdir(), 'windjammer-contexts-'));
const BYSTANDER_RATE = 200;

interface Row {
  readonly what: string;
  readonly leg: Leg;
  readonly rssMib: number;
  readonly fileMib: number;
}

/** A client in a process of its own. */
async function client(words: readonly string[]): Promise<Leg> {
  const file = fileURLToPath(new URL('./contextsClient.js', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [file, ...words]);
  return JSON.parse(stdout) as Leg;
}

try {
  const filledPerSecond = await fill(directory, contexts);
  folder.print(`filled ${contexts} contexts, ${filledPerSecond.toFixed(0)} a second\n\n`);
  const server = await startWindjammer(
    commandFile(),
    APPLICATION,
    ['--no-defaults'],
    ['--data-dir', directory],
  );
  const rows: Row[] = [];
  const leg = async (what: string, run: () => Promise<Leg>): Promise<void> => {
    const measured = await run();
    const row = { what, leg: measured, ...memoryOf(server.pid) };
    rows.push(row);
    const { perSecond, p50Ms, p99Ms, maxMs, errors } = measured;
    const numbers = [perSecond.toFixed(0), p50Ms.toFixed(2), p99Ms.toFixed(2), maxMs.toFixed(0), errors];
    folder.print(`| ${[what, ...numbers, row.rssMib.toFixed(0), row.fileMib.toFixed(0)].join(' | ')} |\n`);
  };
  try {
    await register(server.managementUrl);
    folder.print('| leg | queries/s | p50 ms | p99 ms | max ms | not answered | RSS MiB | of files |\n');
    folder.print('| --- | --- | --- | --- | --- | --- | --- | --- |\n');
    const { webSocketUrl: url } = server;
    const anyUser = (): string => userName(random.below(contexts));
    await closedLoop(url, Math.min(seconds, 5), () => '');
    await leg('no contexts', () => closedLoop(url, seconds, () => ''));
    await closedLoop(url, 2, (at) => userName(at % HOT));
    await leg(`${HOT} hot contexts`, () => closedLoop(url, seconds, (at) => userName(at % HOT)));
    await leg(`any of ${contexts}`, () => closedLoop(url, seconds, anyUser));
    await leg(`any of ${contexts}, all judged`, () => closedLoop(url, seconds, anyUser, true));
    await leg('bystander alone', () => steady(url, seconds, BYSTANDER_RATE, seed));
    for (const whose of ['hot', 'invented']) {
      for (const judged of [[], ['judged']]) {
        const beside = client([url, String(seconds + 1), whose, ...judged]);
        const what = `bystander beside one who asks of ${whose} contexts${judged.length > 0 ? ', all judged' : ''}`;
        await leg(what, () => steady(url, seconds, BYSTANDER_RATE, seed));
        const { perSecond } = await beside;
        folder.print(`| … who got so many answered | ${perSecond.toFixed(0)} | | | | | | |\n`);
      }
    }
    await leg('bystander afterwards', () => steady(url, seconds, BYSTANDER_RATE, seed));
    folder.writeJson('contexts.json', { seed, contexts, seconds, filledPerSecond, rows });
  } finally {
    await server.stop();
  }
} finally {
  rmSync(directory, { recursive: true });
}
