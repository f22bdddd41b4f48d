import {
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { NodeProcess } from './nodeProcess.js';
import type { RunningCommand } from './runningCommand.js';
import { ServedProcess } from './servedProcess.js';

let folder: string;
let file: string;
const running: RunningCommand[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-log-'));
  file = join(folder, 'windjammer.log');
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.end('SIGKILL')));
  rmSync(folder, { recursive: true });
});

type Line = Readonly<Record<string, unknown>>;

const lines = (path: string): Line[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

const messages = (path: string) => lines(path).map(({ msg }) => msg);

async function serve(): Promise<ServedProcess> {
  const server = await ServedProcess.start(['--ephemeral', '--no-defaults', '--log-file', file]);
  running.push(server);
  return server;
}

const application = (name: string) => ({
  name,
  input_type: 'strings' as const,
  default_output: 'none',
  latency_slo_micros: 2_000_000,
});

it('has changes and failures in a file, which SIGHUP opens anew', async () => {
  const server = await serve();
  const module = join(folder, 'picky.mjs');
  writeFileSync(
    module,
    "export default { inputType: 'strings', predictOne: () => { throw new Error('not today'); } };",
  );
  const { management } = server.client();
  await management.addApplication(application('app'));
  await management.addModel({
    model_name: 'picky',
    model_version: '1',
    input_type: 'strings',
    container_name: 'windjammer/process',
    model_data_path: module,
  });
  await management.addLinks('app', ['picky']);
  await expect
    .poll(async () => (await management.containers())[0]?.state, { timeout: 60_000, interval: 50 })
    .toBe('up');
  const { json } = await server.post(`${server.query}/app/predict`, { input: 'a secret' });
  const { query_id: request } = json as { query_id: string };
  const failure = lines(file).find(({ msg }) => msg === 'a model failed on a query');
  expect(failure).toMatchObject({ request, application: 'app', model: 'picky', version: '1' });
  expect(failure?.['reason']).toContain('not today');
  expect(messages(file).slice(0, 3)).toEqual([
    'change: add_app',
    'change: add_model',
    'change: add_model_links',
  ]);
  expect(readFileSync(file, 'utf8')).not.toContain('a secret');

  const moved = join(folder, 'windjammer.log.1');
  renameSync(file, moved);
  await management.addApplication(application('before'));
  expect(messages(moved).at(-1)).toBe('change: add_app');
  server.signal('SIGHUP');
  let isStrict = false;
  await expect
    .poll(
      async () => {
        // What changes nothing is told nowhere.
        isStrict = !isStrict;
        await management.setApplication({ name: 'app', strict: isStrict });
        try {
          return messages(file).at(-1);
        } catch {
          return undefined;
        }
      },
      { timeout: 20_000 },
    )
    .toBe('change: set_app');
  expect(server.errors).toBe('');
});

it('serves on while the disk of the log is full, says so, and writes on when it can', async () => {
  symlinkSync('/dev/full', file);
  const server = await serve();
  const { management } = server.client();
  for (let at = 0; at < 20; at++) await management.addApplication(application(`app${at}`));
  expect((await server.post(`${server.query}/app7/predict`, { input: 'x' })).status).toBe(200);
  await expect
    .poll(() => server.errors, { timeout: 20_000 })
    .toMatch(/the log \S+ is not written at present: .*ENOSPC/);
  expect(server.errors.trim().split('\n')).toHaveLength(1);
  unlinkSync(file);
  writeFileSync(file, '');
  server.signal('SIGHUP');
  await expect
    .poll(
      async () => {
        await management.setApplication({ name: 'app1', strict: true });
        return messages(file).filter((message) => message === 'change: add_app').length;
      },
      { timeout: 20_000 },
    )
    .toBe(20);
  expect(await server.end('SIGTERM')).toBe(0);
});

it('is refused where its folder is not there, of serve and of node', async () => {
  const missing = join(folder, 'missing', 'x.log');
  const commands = [
    new ServedProcess(['--ephemeral', '--log-file', missing]),
    new NodeProcess('n', ['--gpus', 'none', '--log-file', missing]),
  ];
  running.push(...commands);
  for (const command of commands) {
    expect(await command.ended()).toBe(1);
    expect(command.errors).toMatch(/^windjammer: --log-file: .*its folder must be there, and writable\n$/);
  }
});

it('of a node is opened anew at SIGHUP, too', async () => {
  const node = await NodeProcess.start('n', ['--gpus', 'none', '--log-file', file]);
  running.push(node);
  renameSync(file, `${file}.1`);
  node.signal('SIGHUP');
  await expect
    .poll(
      () => {
        try {
          return readFileSync(file, 'utf8');
        } catch {
          return undefined;
        }
      },
      { timeout: 20_000 },
    )
    .toBe('');
  expect(node.hasExited).toBe(false);
});
