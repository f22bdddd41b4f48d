import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packageRoot } from '../../containers/models/index.js';

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'windjammer-replay-'))));
afterAll(() => rmSync(folder, { recursive: true }));

function windjammer(...args: string[]): SpawnSyncReturns<string> {
  const entry = join(packageRoot(), 'dist/loadtest/cli/main.js');
  return spawnSync(process.execPath, [entry, ...args], { encoding: 'utf8', cwd: folder });
}

it('prints JSON, writes the report, and tells how long it took', () => {
  const args = ['replay', '--trace', 'poisson:200', '--duration', '1', '--report', 'report.html'];
  const { status, stdout, stderr } = windjammer(...args);
  expect(stderr).toMatch(/^\d+ answers, 1\.\d s simulated in [\d.]+ s of host time \(dilation [\d.]+\)\n$/);
  expect(JSON.parse(stdout)).toMatchObject({ format: 1, seed: 1, trace: 'poisson:200', durationSeconds: 1 });
  expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain('<title>Replay of poisson:200</title>');
  expect(status).toBe(0);
  expect(windjammer(...args).stdout).toBe(stdout);
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
    /^windjammer: --report: the folder of none\/x\.html is not there/,
  ],
])('fails with 1 and a message on %s', (_what, args, message) => {
  const { status, stdout, stderr } = windjammer(...args);
  expect(stderr).toMatch(message);
  expect(stdout).toBe('');
  expect(status).toBe(1);
});
