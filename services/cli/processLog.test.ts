import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openLog } from './processLog.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'process-log-'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
});
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  ['pipe', /pipe is no file that can be appended to: name a file/],
  ['.', /is a folder: name a file/],
  ['missing/x.log', /its folder must be there, and writable$/],
])('is refused at %s, and nobody waits for a reader', (name, message) => {
  expect(() => openLog({ logLevel: 'info', logFile: join(folder, name) })).toThrow(message);
});

it('is refused without a name', () => {
  expect(() => openLog({ logLevel: 'info', logFile: '' })).toThrow('--log-file is empty: name a file');
});
