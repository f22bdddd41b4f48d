import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { restoreDirectory } from '../store/index.js';
import { startEmbedded } from '../tests/embeddedServer.js';
import { runCommand } from './tests/runCommand.js';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'restore-'));
  file = join(folder, 'backup');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A backup as it would be written, of these entries. */
function write(...entries: readonly object[]): void {
  const header = {
    ...{ format: 'windjammer-backup', version: 1, schema: 1, made_at: '2030-01-31T00:00:00.000Z' },
    ...{ entries: entries.length, bundles: 0, not_included: [] },
  };
  const lines = [header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join('');
  const sha256 = createHash('sha256').update(lines).digest('hex');
  writeFileSync(file, `${lines}${JSON.stringify({ sha256 })}\n`);
}

const entry = (key: string) => ({ key, version: 1, value: 1 });

it('is refused where a file is, or without a name, in a sentence', async () => {
  write(entry('a'));
  for (const [directory, message] of [
    [file, /^nothing is restored into .*backup: ENOTDIR/],
    ['', /^--data-dir is empty: name a folder$/],
  ] as const) {
    const { status, stderr } = await runCommand(['restore', file, '--data-dir', directory]);
    expect([status, stderr.split('\n')]).toEqual([1, [expect.stringMatching(message)]]);
  }
});

it('of a backup that has a key twice changes nothing', async () => {
  write(entry('a'), entry('a'));
  const { stderr } = await runCommand(['restore', file, '--data-dir', join(folder, 'data')]);
  expect(stderr).toMatch(/the backup is damaged: it has a twice$/);
  expect(readdirSync(folder)).toEqual(['backup']);
});

it('of what no server would start with changes nothing, and names it', async () => {
  for (const [written, message] of [
    [
      { ...entry('registry/application/a'), value: null },
      /registry\/application\/a is not as servers write it \(/,
    ],
    [
      { ...entry('registry/declared/m/1'), value: 'x' },
      /registry\/declared\/m\/1 is not as servers write it/,
    ],
    [{ key: 'setup/defaults', version: 1 }, /the backup is damaged: a line is none that a backup has$/],
  ] as const) {
    write(written);
    const { status, stderr } = await runCommand(['restore', file, '--data-dir', join(folder, 'data')]);
    expect([status, stderr]).toEqual([1, expect.stringMatching(message)]);
    expect(readdirSync(folder)).toEqual(['backup']);
  }
});

it('is of a regular file, which it does not wait for', async () => {
  execFileSync('mkfifo', [file]);
  for (const [path, kind] of [
    [file, 'a pipe'],
    ['/dev/zero', 'a device'],
    [folder, 'a folder'],
  ]) {
    const { stderr } = await runCommand(['restore', path, '--data-dir', join(folder, 'data')]);
    expect(stderr).toBe(
      `restore: ${path} is ${kind}, and a regular file is needed: write its content to one, and name that`,
    );
  }
});

it('by other means is refused by serve, with the directory and the way out', async () => {
  const directory = join(folder, 'data');
  const value = { kind: 'forged' };
  await restoreDirectory(directory, new Map([['registry/model/m/1', { version: 1, value }]]));
  const message =
    /^the data directory .*data cannot be read: registry\/model\/m\/1 is not as servers write it \(name: /;
  await expect(startEmbedded({ dataDirectory: directory })).rejects.toThrow(message);
  const { stderr } = await runCommand(['key', 'list', '--data-dir', directory]);
  expect(stderr).toMatch(message);
});
