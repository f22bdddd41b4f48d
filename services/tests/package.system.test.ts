import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../simulator/files/index.js';

describe('the package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'windjammer-package-'));
  const root = join(folder, 'package');
  const main = join(root, 'dist/services/cli/main.js');
  const windjammer = (...args: string[]): string =>
    execFileSync(process.execPath, [main, ...args], { cwd: root, encoding: 'utf8' });

  beforeAll(() => {
    execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], {
      cwd: packageRoot(),
    });
    const [archive = ''] = readdirSync(folder);
    execFileSync('tar', ['xf', archive], { cwd: folder });
    symlinkSync(join(packageRoot(), 'node_modules'), join(root, 'node_modules'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('has of the laboratory what commands load, and nothing that only tests and benches use', () => {
    for (const laboratory of ['simulator/laboratory', 'dist/simulator/laboratory']) {
      const loaded = ['calibration', 'launches', 'validatorModes'];
      expect(loaded).toEqual(expect.arrayContaining(readdirSync(join(root, laboratory))));
    }
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
    expect(files.filter((file) => /\.test\.|(^|\/)tests\//.test(file) && !/node_modules/.test(file))).toEqual(
      [],
    );
    expect(existsSync(join(root, 'loadtest/experiments'))).toBe(false);
  });

  it('serves', async () => {
    const args = ['--port', '0', '--management-port', '0', '--ephemeral', '--seed', '1'];
    const server = spawn(process.execPath, [main, 'serve', ...args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    server.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    try {
      await expect.poll(() => output, { timeout: 60_000 }).toContain('Ctrl-C');
      const [, address = ''] = /serves on (\S+), management on /.exec(output) ?? [];
      const response = await fetch(new URL('/digits/predict', address), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ input: Array.from({ length: 784 }, () => 0) }),
      });
      expect(response.status).toBe(200);
    } finally {
      server.kill('SIGTERM');
      await once(server, 'exit');
    }
  });

  it('calibrates by every set, judges launches in every mode, and replays', () => {
    const spec = join(root, 'simulator/gpu/reference/launches/saxpy__n-256-a-1-5.json');
    expect(windjammer('gpu', 'calibrate', '--only', 'saxpy__n-256')).toContain('saxpy');
    for (const [set, only, specs] of [
      ['validation', 'divergent', /^\d+ launch specs in /],
      ['heldOut', 'batched_32', /^\d+ launch specs in /],
    ] as const)
      expect(
        windjammer('gpu', 'calibrate', '--set', set, '--only', only, '--specs', join(folder, set)),
      ).toMatch(specs);
    for (const mode of ['strawman', 'ranges', 'compacted'])
      expect(windjammer('gpu', 'idempotent', spec, '--mode', mode)).toContain('"idempotent":');
    expect(windjammer('replay', '--help')).toContain('Usage: windjammer replay');
  });
});
