import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { builtInModelPath } from '../../containers/models/index.js';
import { packageRoot } from '../../simulator/files/index.js';
import { commandFile } from '../cli/index.js';
import { ServedProcess } from './servedProcess.js';

/** Debian's: another python3 may come first on the path. */
const PYTHON = '/usr/bin/python3';
const CLIENT = join(packageRoot(), 'services/client/python');

const folder = mkdtempSync(join(tmpdir(), 'windjammer-python-'));
afterAll(() => rmSync(folder, { recursive: true }));

const isPythonThere = spawnSync(PYTHON, ['--version']).status === 0;
const isPipThere = isPythonThere && spawnSync(PYTHON, ['-c', 'import setuptools; import pip']).status === 0;

/** Runs one of the client's tests; what it says is the failure. */
async function runTests(file: string, environment: NodeJS.ProcessEnv = {}): Promise<void> {
  const words = ['-W', 'ignore::ResourceWarning', '-m', 'unittest', `tests/${file}`];
  const child = spawn(PYTHON, words, {
    cwd: CLIENT,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: CLIENT, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => (said += part.toString()));
  const status = await new Promise((resolve) => child.once('close', resolve));
  expect(said).toMatch(/\nOK\b/);
  expect(status).toBe(0);
}

/** What a guide shows, as it stands there, in the repository's folder. @returns what it prints */
async function runExamples(page: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const text = readFileSync(join(packageRoot(), `docs/guides/${page}.md`), 'utf8');
  const blocks = [...text.matchAll(/^```python\n([^]*?)^```$/gm)].map(([, block]) => block);
  const script = join(folder, `${page}.py`);
  writeFileSync(script, blocks.join('\n'));
  const child = spawn(PYTHON, [script], {
    cwd: packageRoot(),
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: CLIENT, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [printed, said] = ['', ''];
  child.stdout.on('data', (part: Buffer) => (printed += part.toString()));
  child.stderr.on('data', (part: Buffer) => (said += part.toString()));
  const status = await new Promise((resolve) => child.once('close', resolve));
  expect(status, `${page}.md: ${said}`).toBe(0);
  return printed;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe.runIf(isPythonThere)('the client in Python', () => {
  it('is of the standard library alone, and ends every call in its time, whatever a server does', async () => {
    await runTests('test_offline.py');
    await runTests('test_source.py');
    await runTests('test_web_socket.py');
  });

  it('asks every verb of a server, and tells what it refuses', async () => {
    const key = spawnSync(process.execPath, [commandFile(), 'key', 'generate'], {
      encoding: 'utf8',
    }).stdout.trim();
    const served = await ServedProcess.start(['--data-dir', join(folder, 'data'), '--require-keys'], {
      WINDJAMMER_ADMIN_KEY: key,
    });
    await runTests('test_server.py', {
      WINDJAMMER_URL: served.query,
      WINDJAMMER_MANAGEMENT_URL: served.management,
      WINDJAMMER_API_KEY: key,
      WINDJAMMER_DIGIT: join(packageRoot(), 'containers/models/samples/digit.json'),
      WINDJAMMER_KERNEL_MODEL: join(packageRoot(), builtInModelPath('digits-logistic')),
    });
    await runTests('test_functions.py', {
      WINDJAMMER_URL: served.query,
      WINDJAMMER_MANAGEMENT_URL: served.management,
      WINDJAMMER_API_KEY: key,
    });
    await runTests('test_clipper.py', {
      WINDJAMMER_URL: served.query,
      WINDJAMMER_MANAGEMENT_URL: served.management,
      WINDJAMMER_API_KEY: key,
      WINDJAMMER_COMMAND: `${process.execPath} ${commandFile()}`,
    });
    const printed = await runExamples('python', {
      WINDJAMMER_URL: served.query,
      WINDJAMMER_MANAGEMENT_URL: served.management,
      WINDJAMMER_API_KEY: key,
    });
    expect(printed).toMatch(/^7 /);
    expect(printed).toMatch(/\b6\b/);
    await served.end('SIGTERM');
  });

  it('takes what was written for Clipper, with its import changed', async () => {
    const printed = await runExamples('clipper', {
      WINDJAMMER_URL: `http://127.0.0.1:${await freePort()}`,
      WINDJAMMER_MANAGEMENT_URL: `http://127.0.0.1:${await freePort()}`,
      WINDJAMMER_COMMAND: `${process.execPath} ${commandFile()}`,
    });
    expect(printed).toBe('6.5\n');
  });

  it.runIf(isPipThere)('is installed by pip from its folder', () => {
    const place = join(folder, 'installed');
    const words = [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--no-deps',
      '--no-index',
      '--no-build-isolation',
      '--target',
      place,
    ];
    // A copy: building leaves files beside what is built.
    const copy = join(folder, 'source');
    expect(spawnSync('cp', ['-r', CLIENT, copy]).status).toBe(0);
    const installed = spawnSync(PYTHON, [...words, copy], { encoding: 'utf8' });
    expect(installed.status, installed.stderr).toBe(0);
    const lines = [
      'import windjammer, windjammer.clipper_admin.deployers.python, sys',
      'assert windjammer.__file__.startswith(sys.argv[1]), windjammer.__file__',
      'print(windjammer.Client().url)',
    ];
    const asked = spawnSync(PYTHON, ['-c', lines.join('\n'), place], {
      encoding: 'utf8',
      cwd: folder,
      env: { ...process.env, PYTHONPATH: place, WINDJAMMER_URL: 'http://here:1' },
    });
    expect(asked.stdout, asked.stderr).toBe('http://here:1\n');
  });
});
