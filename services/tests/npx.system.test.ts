import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { packageRoot } from '../../containers/models/index.js';
import { pidsOf } from './modelProcesses.js';

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

it('prepare leaves a dist alone that is up to date', () => {
  const cwd = packageRoot();
  execFileSync('npm', ['run', '--silent', 'build'], { cwd });
  // Without a path it finds no compiler: whoever wanted to compile would fail.
  execFileSync(process.execPath, ['deploy/buildIfChanged.cjs'], { cwd, env: { PATH: '' } });
});
