import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ReplayReport } from '../../simulator/kernelTable/index.js';
import { runGpuCommand } from './tests/gpuCommand.js';

const folder = mkdtempSync(join(tmpdir(), 'windjammer-replay-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const HEAD = 'Name,Profile,Memory_footprint,SM_usage,Duration';
const table = file('table.csv', `${HEAD}\nConv,1,0,40,100000\nrelu,0,0,80,20000\n`);
const bad = file('bad.csv', `${HEAD}\nConv,1,0,40,fast\n`);
const long = file('long.json', '[1e300]');
const wide = join(folder, 'wide.csv');
writeFileSync(wide, Buffer.from(`\uFEFF${HEAD}\n`, 'utf16le'));
const gaps = file('gaps.json', '[0.001, -1]');
const run = (...args: readonly string[]): Promise<string> => runGpuCommand('replay', ...args);

describe('windjammer gpu replay', () => {
  it('reports clients, makespan and how fast the host was', async () => {
    const text = await run(table, '--streams', '2', '--launches', '40', '--priority', '1,0');
    expect(text).toContain('h200, tables measured on v100, policy fifo');
    expect(text).toMatch(/^table\.csv +1 +standard +\d+ +\d+ /m);
    expect(text).toMatch(/makespan [\d.]+ ms simulated, 40 launches, SMs in use [\d.]+%/);
    expect(text).toMatch(/host: [\d.]+ s, \d+ launches a second/);
  });

  it('gives JSON, for simulated time and given distances', async () => {
    const text = await run(table, '--device', 'v100', '--seconds', '0.0095', '--every', '1', '--json');
    const report = JSON.parse(text) as ReplayReport;
    expect(report.clients[0]).toMatchObject({ requests: 10, launches: 20 });
    expect(report.makespanUs).toBeCloseTo(9500);
    expect(report.clients[0].latency?.p50Us).toBeGreaterThan(119);
  });

  it('preempts launches of a lower class, by killing where the table says that it may', async () => {
    const job = file('job.csv', `${HEAD},Idempotent\nConv,1,0,132,2000000,1\n`);
    const shared = [table, job, '--class', 'critical,bestEffort', '--every', '4.3,0', '--seconds', '0.1'];
    const text = await run(...shared, '--policy', 'killRestart');
    expect(text).toMatch(/^job\.csv +0 +bestEffort /m);
    expect(text).toMatch(
      /launches taken off the SMs: \d\d killed \(1\.0 us each\); work thrown away: that of/,
    );
    const report = JSON.parse(await run(...shared, '--policy', 'drain', '--json')) as ReplayReport;
    expect(report.preemptions).toMatchObject({ kills: 0, saves: 0 });
    expect(report.preemptions.drains).toBeGreaterThan(10);
    expect(report.clients.map(({ launchClass }) => launchClass)).toEqual(['critical', 'bestEffort']);
    expect(await run(...shared)).not.toContain('taken off');
  });

  it.each([
    [
      [table, '--class', 'urgent'],
      /--class: 'urgent' is no class of launches; there are: critical, standard,/,
    ],
    [[table, '--class', 'critical,critical'], /--class: 2 values for 1 clients; give one, or one a client/],
    [[table, '--seed', 'x'], /expected a whole number from 0/],
    [
      [file('verdict.csv', `${HEAD},Idempotent\nConv,1,0,40,5000,yes\n`)],
      /verdict\.csv:2: column Idempotent: 'yes' is not the share of its launches that are/,
    ],
    [[bad], /invalidTable: .*bad\.csv:2: column Duration: 'fast' is not a whole number/],
    [['/nowhere.csv'], /nowhere\.csv/],
    [[table, '--device', 'h2000'], /h2000/],
    [[table, '--policy', 'lottery'], /no scheduling policy 'lottery'; there are: fifo/],
    [[table, '--priority', '1,2,3'], /--priority: 3 values for 1 clients; give one, or one a client/],
    [[table, '--priority', 'high'], /--priority: 'high' is not whole numbers/],
    [[table, '--every', '-1'], /--every: '-1' is not milliseconds, 0 to 1000000000/],
    [[table, '--every', '1e308'], /--every: '1e308' is not milliseconds/],
    [[table, '--priority', '1e308'], /--priority: '1e308' is not whole numbers/],
    [
      [table, '--gaps', long],
      /--gaps: .*long\.json: \[0\]: 1e\+300 is not a number of seconds, 0 to 1000000/,
    ],
    [[table, '--gaps', table], /--gaps: .*table\.csv: it is no JSON: Unexpected token/],
    [[table, '--timeline', table], /--timeline: .*table\.csv is a table too, and would be lost/],
    [[wide], /wide\.csv: it is text in UTF-16LE; save it as UTF-8/],
    [[table, '--gaps', gaps], /--gaps: .*gaps\.json: \[1\]: -1 is not a number of seconds/],
    [[table, '--launches', '0'], /expected a whole number from 1/],
  ])('tells what is wrong: %j', async (args, message) => {
    const text = await run(...args);
    expect(text).toMatch(/^FAILED/);
    expect(text).toMatch(message);
  });
});
