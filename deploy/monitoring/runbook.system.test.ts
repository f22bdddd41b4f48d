import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { commandFile } from '../../services/cli/index.js';
import { RedisServer } from '../../services/redis/tests/redisServer.js';
import { NodeProcess } from '../../services/tests/nodeProcess.js';
import { ServedProcess } from '../../services/tests/servedProcess.js';
import { RUNBOOK } from './rules/index.js';

/** Everything that the runbook tells to type. */
const COMMANDS = [...readFileSync(RUNBOOK, 'utf8').matchAll(/^ {4}(\S.*)$/gm)].map(([, command]) => command);

let folder: string;
let redis: RedisServer;
const running: (ServedProcess | NodeProcess)[] = [];
let server: ServedProcess;
let clustered: ServedProcess;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-runbook-'));
  mkdirSync(join(folder, '.windjammer'));
  copyFileSync('services/http/tests/certificates/server.pem', join(folder, 'server.crt'));
  redis = await RedisServer.start({ isDurable: false });
  const store = ['--store', redis.url];
  server = new ServedProcess([...store, '--data-dir', join(folder, '.windjammer')]);
  const cluster = ['--redis-prefix', 'cluster'];
  const node = new NodeProcess('node-a', ['--join', redis.url, ...cluster, '--gpus', 'none']);
  clustered = new ServedProcess([
    ...store,
    ...cluster,
    '--only-nodes',
    '--no-defaults',
    '--data-dir',
    join(folder, 'clustered'),
  ]);
  running.push(server, node, clustered);
  for (const one of running) await one.ready();
  // Until a GPU has worked, nobody knows how its host keeps up.
  const input = Array.from({ length: 784 }, (_, at) => (at % 17) / 17);
  await server.post(`${server.query}/digits/predict`, { input });
  const metrics = async () => (await fetch(`${server.query}/metrics`)).text();
  await vi.waitUntil(async () => (await metrics()).includes('windjammer_gpu_node_dilation{'), {
    timeout: 30_000,
  });
});
afterAll(async () => {
  for (const one of running) if (!one.hasExited) await one.end('SIGKILL');
  await redis?.stop();
  rmSync(folder, { recursive: true });
});

it('has commands', () => expect(COMMANDS.length).toBeGreaterThan(20));

it.each([...new Set(COMMANDS)])('%s', (command) => {
  const at = command.startsWith('windjammer cluster') ? clustered : server;
  const text = command.replaceAll('http://127.0.0.1:1337', at.query);
  const script = `set -o pipefail; windjammer() { '${process.execPath}' '${resolve(commandFile())}' "$@"; }; ${text}`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, WINDJAMMER_URL: at.query, WINDJAMMER_MANAGEMENT_URL: at.management },
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).not.toBe('');
});
