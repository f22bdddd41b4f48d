import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedProcess } from './servedProcess.js';
import { windjammer } from './windjammerCommand.js';

describe('windjammer', () => {
  let served: ServedProcess;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-cli-'));
    served = await ServedProcess.start(['--ephemeral']);
  });
  afterAll(async () => {
    await served.end('SIGTERM');
    rmSync(folder, { recursive: true });
  });

  it.each([
    ['an input', ['--input', '[1, 2]'], ''],
    ['a file with a request', ['--file', 'REQUEST'], ''],
    ['standard input', ['--file', '-'], '[3]'],
  ])('predicts on %s', async (_what, args, input) => {
    const file = join(folder, 'request.json');
    writeFileSync(file, '{"input":[1]}');
    const { code, stdout, stderr } = await windjammer(
      ['predict', 'noop', '--url', served.query, ...args.map((arg) => (arg === 'REQUEST' ? file : arg))],
      input,
    );
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({ output: 0, default: false });
    expect(code).toBe(0);
  });

  it.each<[string, string[], RegExp]>([
    [
      'an unknown application',
      ['predict', 'nobody', '--input', '[1]', '--url', 'SERVER'],
      /^windjammer: 404 unknown_application: /,
    ],
    [
      'a bad input',
      ['predict', 'noop', '--input', '[]', '--url', 'SERVER'],
      /^windjammer: 400 empty_input: /,
    ],
    ['no input', ['predict', 'noop'], /^windjammer: give one of --input and --file\n$/],
    [
      'a file that is not there',
      ['predict', 'noop', '--file', '/nowhere'],
      /^windjammer: cannot read \/nowhere: ENOENT/,
    ],
    [
      'no server',
      ['predict', 'noop', '--input', '[1]', '--url', 'http://127.0.0.1:1'],
      /^windjammer: no server answers at /,
    ],
    ['an unknown command', ['fly'], /^error: unknown command 'fly'/],
    ['a port that is none', ['serve', '--port', '65536'], /expected a whole number from 0 to 65535/],
    [
      'a card that is none',
      ['serve', '--gpus', 'h200,abacus'],
      /^windjammer: --gpus: there is no card 'abacus', only h200, /,
    ],
    ['no card at all', ['serve', '--gpus', ''], /expected cards with commas between, such as h200,h200,a100/],
    ['no node', ['serve', '--nodes', '0'], /expected a whole number from 1 to 64/],
    [
      'more GPUs than a node has',
      ['serve', '--gpus', new Array<string>(1000).fill('h200').join()],
      /a node has at most 32 GPUs, 1000 came; give more --nodes/,
    ],
    [
      'a folder that cannot be',
      ['serve', '--data-dir', '/dev/null/x'],
      /^windjammer: the data directory \/dev\/null\/x cannot be used/,
    ],
    ['no launch spec', ['gpu', 'run', '/nowhere.json'], /^windjammer: \/nowhere\.json: unreadableFile: /],
    ['no PTX file', ['gpu', 'disasm', '/nowhere.ptx'], /^windjammer: unreadableFile: \/nowhere\.ptx: /],
  ])('fails with 1 and a message on %s', async (_what, args, message) => {
    const { code, stdout, stderr } = await windjammer(
      args.map((arg) => (arg === 'SERVER' ? served.query : arg)),
    );
    expect(stderr).toMatch(message);
    expect(stdout).toBe('');
    expect(code).toBe(1);
  });
});
