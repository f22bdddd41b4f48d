import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
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
