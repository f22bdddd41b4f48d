import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { commandFile } from '../../services/cli/index.js';

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'windjammer-replay-'))));
afterAll(() => rmSync(folder, { recursive: true }));

function windjammer(...args: string[]): SpawnSyncReturns<string> {
  const entry = commandFile();
  return spawnSync(process.execPath, [entry, ...args], { encoding: 'utf8', cwd: folder });
}

it('prints JSON, writes the report, and tells how long it took', () => {
  const args = ['replay', '--trace', 'poisson:200', '--duration', '1', '--report', 'report.html'];
  const { status, stdout, stderr } = windjammer(...args);
  expect(stderr).toMatch(/^\d+ answers, 1\.\d s simulated in [\d.]+ s of host time \(dilation [\d.]+\)\n$/);
  expect(JSON.parse(stdout)).toMatchObject({
    format: 3,
    kind: 'replay',
    seed: 1,
    trace: 'poisson:200',
    durationSeconds: 1,
  });
  expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain('<title>Replay of poisson:200</title>');
  expect(status).toBe(0);
  expect(windjammer(...args).stdout).toBe(stdout);
});

it('shows what a trace file holds before it runs it', () => {
  const rows = [0, 250, 400].flatMap((at) => [
    `http_reqs,${1_700_000_000_000 + at},1`,
    `http_req_duration,${1_700_000_000_000 + at},12.5`,
  ]);
  writeFileSync(join(folder, 'k6.gz'), gzipSync(['metric_name,timestamp,metric_value', ...rows].join('\n')));
  const { status, stdout, stderr } = windjammer('replay', '--trace', 'k6.gz');
  expect(stderr.split('\n').slice(0, 3)).toEqual([
    'k6.gz (k6-csv): 3 arrivals, first 2023-11-14T22:13:20.000Z, last 2023-11-14T22:13:20.400Z, span 0.4 s',
    'timestamp: milliseconds, since 1970, by their magnitude (--time-unit says otherwise)',
    'mean 5 a second, at most 3 in a second and 1 at once',
  ]);
  expect(JSON.parse(stdout)).toMatchObject({ trace: 'k6.gz', arrivals: 3, durationSeconds: 0.4 });
  expect(status).toBe(0);
});

it.each([
  ['no trace', ['replay'], /required option '--trace <trace>' not specified/],
  [
    'a bad trace',
    ['replay', '--trace', 'poisson:often'],
    /^windjammer: --trace: RATE of poisson:RATE must be/,
  ],
  ['a bad share', ['replay', '--trace', 'poisson:1', '--feedback', '2'], /expected a number from 0 to 1/],
  [
    'a report without a folder',
    ['replay', '--trace', 'poisson:1', '--report', 'none/x.html'],
    /^windjammer: --report: ENOENT: no such file or directory, access 'none'/,
  ],
])('fails with 1 and a message on %s', (_what, args, message) => {
  const { status, stdout, stderr } = windjammer(...args);
  expect(stderr).toMatch(message);
  expect(stdout).toBe('');
  expect(status).toBe(1);
});
