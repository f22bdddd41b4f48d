import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tryLock } from 'fs-native-extensions';
import { afterAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../simulator/files/index.js';
import { pidsOf } from './modelProcesses.js';
import { ServedProcess } from './servedProcess.js';

// What `npx windjammer serve` comes down to: npm, a shell, and the server.
it.runIf(existsSync('/proc/self'))('SIGTERM to npx ends the server too, drained', async () => {
  const seed = String(process.pid);
  const npx = spawn(
    'npx',
    [
      'windjammer',
      'serve',
      '--port',
      '0',
      '--management-port',
      '0',
      '--ephemeral',
      '--seed',
      seed,
      '--no-defaults',
    ],
    { cwd: packageRoot(), stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let output = '';
  npx.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const closed = once(npx.stdout, 'close');
  await expect.poll(() => output, { timeout: 60_000 }).toContain('Ctrl-C');
  expect(pidsOf('serve', `--seed\0${seed}`)).not.toEqual([]);
  npx.kill('SIGTERM');
  // Its standard output is open for as long as the server lives.
  await closed;
  expect(output).toContain('Draining');
  expect(output).toContain('Stopped.');
  expect(pidsOf('serve', `--seed\0${seed}`)).toEqual([]);
});

const MAIN = 'services/cli/main.ts';

/** A small repository with the build of this one. */
function smallRepository(): string {
  const root = mkdtempSync(join(tmpdir(), 'windjammer-build-'));
  const own = packageRoot();
  for (const name of ['deploy', 'package.json', 'package-lock.json', 'vitest.config.ts'])
    cpSync(join(own, name), join(root, name), { recursive: true });
  symlinkSync(join(own, 'node_modules'), join(root, 'node_modules'));
  // Little to compile: the build is what is tested.
  const small = { types: [], lib: ['es5'], skipLibCheck: true };
  const settings = { ...small, outDir: 'dist', rootDir: '.', module: 'nodenext' };
  writeFileSync(join(root, 'tsconfig.json'), JSON.stringify({ compilerOptions: settings, files: [MAIN] }));
  for (const room of [
    'services/dashboard/page',
    'services/cli',
    'containers',
    'selection',
    'simulator',
    'loadtest',
  ])
    mkdirSync(join(root, room), { recursive: true });
  writeFileSync(
    join(root, 'services/dashboard/page/tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...small, noEmit: true }, files: ['page.ts'] }),
  );
  writeFileSync(join(root, 'services/dashboard/page/page.ts'), 'export {};');
  writeFileSync(join(root, MAIN), 'export const version = 1;');
  return root;
}
describe('the build', () => {
  const root = smallRepository();
  const built = join(root, 'dist/services/cli/main.js');
  const build = (...options: string[]) =>
    spawnSync(process.execPath, [join(root, 'deploy/buildIfChanged.cjs'), ...options], { encoding: 'utf8' });
  afterAll(() => rmSync(root, { recursive: true }));

  it('leaves a dist alone that is up to date, and makes one anew whose sources have changed', () => {
    expect(build('--if-free')).toMatchObject({ status: 0, stderr: '' });
    writeFileSync(built, 'as it is');
    expect(build('--if-free')).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(built, 'utf8')).toBe('as it is');
    writeFileSync(join(root, MAIN), 'export const version = 22;');
    expect(build()).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(built, 'utf8')).toContain('22');
  });

  it('leaves the dist alone from which a server runs', () => {
    expect(build()).toMatchObject({ status: 0, stderr: '' });
    const before = readFileSync(built, 'utf8');
    const lock = openSync(join(root, 'dist/.lock'), 'r');
    expect(tryLock(lock, { shared: true })).toBe(true);
    expect(build('--always')).toMatchObject({ status: 0, stderr: '' });
    writeFileSync(join(root, MAIN), 'export const version = 333;');
    for (const [option, status] of [
      ['--always', 1],
      ['--if-free', 0],
    ] as const) {
      const refused = build(option);
      expect(refused.stderr).toContain('a server runs from dist');
      expect(refused.status).toBe(status);
      expect(readFileSync(built, 'utf8')).toBe(before);
    }
    closeSync(lock);
    expect(build('--if-free')).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(built, 'utf8')).toContain('333');
  });

  it('waits for another one', async () => {
    expect(build()).toMatchObject({ status: 0 });
    writeFileSync(join(root, MAIN), 'export const version = 4444;');
    const both = [1, 2].map(async () => {
      const child = spawn(process.execPath, [join(root, 'deploy/buildIfChanged.cjs')]);
      const [status] = (await once(child, 'exit')) as [number];
      return { status, text: readFileSync(built, 'utf8') };
    });
    for (const { status, text } of await Promise.all(both)) {
      expect(status).toBe(0);
      expect(text).toContain('4444');
    }
  });

  it.runIf(existsSync('/proc/self/fdinfo'))('is locked by a server', async () => {
    const served = await ServedProcess.start(['--ephemeral', '--no-defaults']);
    const folder = `/proc/${served.pid}`;
    const lock = readdirSync(`${folder}/fd`).find(
      (fd) => existsSync(`${folder}/fd/${fd}`) && readlinkSync(`${folder}/fd/${fd}`).endsWith('/dist/.lock'),
    );
    expect(readFileSync(`${folder}/fdinfo/${lock}`, 'utf8')).toMatch(/^lock:.*READ/m);
    await served.end('SIGTERM');
  });
});
