import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../services/cli/tests/runCommand.js';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'load-outputs-'));
  file = join(folder, 'file');
  writeFileSync(file, 'time\n0\n');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a file that is read', () => {
  it.each([
    ['loadtest', '--trace', '--save-answers'],
    ['loadtest', '--compare', '--report'],
    ['loadtest', '--inputs', '--csv'],
    ['loadtest', '--report', '--csv'],
    ['replay', '--trace', '--save-answers'],
    ['replay', '--config', '--report'],
    ['report', '', '--html'],
  ])('is not written by %s: %s and %s', async (command, read, written) => {
    const reading = read === '' ? [file] : [read, file];
    const trace = command === 'replay' && read !== '--trace' ? ['--trace', 'poisson:1'] : [];
    const { status, stderr } = await runCommand([command, ...trace, ...reading, written, file]);
    expect([status, readFileSync(file, 'utf8')]).toEqual([1, 'time\n0\n']);
    expect(stderr).toMatch(/ too, and would be lost; name another file$/);
  });
});

it.each([
  ['missing/answers', /^--save-answers: ENOENT/],
  ['.', /^--save-answers: .* is a folder$/],
])('answers are not saved at %s, which is told first', async (name, message) => {
  const { stderr } = await runCommand(['loadtest', '--save-answers', join(folder, name)]);
  expect(stderr).toMatch(message);
});
