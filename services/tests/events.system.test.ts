import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WindjammerClient } from '../client/index.js';
import { RedisServer } from '../redis/tests/redisServer.js';
import { RunningCommand } from './runningCommand.js';
import { ServedProcess } from './servedProcess.js';

const APPLICATION = {
  name: 'app',
  input_type: 'doubles',
  default_output: 'none',
  latency_slo_micros: 20_000,
} as const;

describe('events', () => {
  let folder: string;
  const running: RunningCommand[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-events-'));
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((one) => one.end('SIGKILL')));
    rmSync(folder, { recursive: true });
  });

  async function serve(...args: string[]): Promise<ServedProcess> {
    const server = await ServedProcess.start(['--no-defaults', ...args]);
    running.push(server);
    return server;
  }

  /** To its end, which must be a good one. */
  async function windjammer(environment: NodeJS.ProcessEnv, ...words: string[]): Promise<string> {
    const command = new RunningCommand(words, environment);
    expect([await command.ended(), command.errors.replace(/^Key .*\n/, '')]).toEqual([0, '']);
    return command.output;
  }

  it('say who changed what, by HTTP, the command line and /v2, and survive a restart', async () => {
    const data = join(folder, 'data');
    const key = (await windjammer({}, 'key', 'add', 'ops', '--scope', 'admin', '--data-dir', data)).trim();
    const args = ['--data-dir', data, '--require-keys', '--v2-repository-control'];
    let server = await serve(...args);
    const { management } = new WindjammerClient({ managementUrl: server.management, apiKey: key });
    await management.addApplication(APPLICATION);
    const environment = { WINDJAMMER_MANAGEMENT_URL: server.management, WINDJAMMER_API_KEY: key };
    const follower = new RunningCommand(['events', '--follow', '--json', '--since', '1h'], environment);
    running.push(follower);
    await windjammer(environment, 'app', 'set', 'app', '--slo-micros', '50000');
    await management.addModel({
      model_name: 'm',
      model_version: '1',
      input_type: 'doubles',
      container_name: 'windjammer/constant',
      output: '1',
    });
    const unloaded = await fetch(`${server.query}/v2/repository/models/m/unload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(unloaded.status).toBe(200);
    expect((await management.events({ after: 4, wait_seconds: 30 })).last).toBe(5);
    const { events } = await management.events();
    expect(events.map(({ by, verb }) => [by.name, verb])).toEqual([
      ['offline', 'add_key'],
      ['ops', 'add_app'],
      ['ops', 'set_app'],
      ['ops', 'add_model'],
      ['ops', 'unload'],
    ]);
    expect(events[2]).toMatchObject({
      before: { latency_slo_micros: 20_000 },
      after: { latency_slo_micros: 50_000 },
    });
    expect(events[4]).toMatchObject({
      about: { model: 'm' },
      before: { '1': { replicas: 1 } },
      after: { '1': { replicas: 0, resting: { replicas: 1 } } },
    });
    const changes = server.errors.split('\n').filter((line) => line.includes('"msg":"change: '));
    expect(changes).toHaveLength(4);
    await expect.poll(() => follower.output.trim().split('\n').length, { timeout: 20_000 }).toBe(5);
    expect(
      follower.output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(events);
    expect(await follower.end('SIGINT')).toBe(130);
    expect(server.output + server.errors + JSON.stringify(events)).not.toContain(key.slice(-64));

    expect(await server.end('SIGTERM')).toBe(0);
    server = await serve(...args);
    const again = new WindjammerClient({ managementUrl: server.management, apiKey: key }).management;
    expect((await again.events()).events).toEqual(events);
    await again.setApplication({ name: 'app', strict: true });
    expect((await again.events({ after: 5, wait_seconds: 30 })).events).toMatchObject([
      { seq: 6, verb: 'set_app' },
    ]);
    const text = await windjammer(
      { WINDJAMMER_MANAGEMENT_URL: server.management, WINDJAMMER_API_KEY: key },
      ...['events', '--app', 'app', '--since', '1h'],
    );
    expect(text).toMatch(/ops +set_app +application app +latency_slo_micros: 20000 → 50000\n/);
  });

  it('are the same on all servers that share a store, however many make changes at once', async () => {
    const redis = await RedisServer.start();
    try {
      const shared = (name: string) => serve('--store', redis.url, '--data-dir', join(folder, name));
      const servers = await Promise.all([shared('a'), shared('b'), shared('c')]);
      const clients = servers.map((server) => server.client().management);
      const waiting = clients[2].events({ after: 29, wait_seconds: 60 }, { timeoutMs: 70_000 });
      await Promise.all(
        clients.flatMap((client, of) =>
          Array.from({ length: 10 }, (_, at) =>
            client.addApplication({ ...APPLICATION, name: `app-${of}-${at}` }),
          ),
        ),
      );
      expect((await waiting).last).toBe(30);
      const last = { after: 29, wait_seconds: 30 };
      await Promise.all(clients.map((client) => client.events(last, { timeoutMs: 60_000 })));
      const listed = await Promise.all(clients.map((client) => client.events({ after: 0 })));
      expect(listed[0].events.map(({ seq }) => seq)).toEqual(Array.from({ length: 30 }, (_, at) => at + 1));
      expect(new Set(listed[0].events.map(({ about }) => about.application)).size).toBe(30);
      expect(new Set(listed[0].events.map(({ server }) => server)).size).toBe(3);
      for (const one of listed) expect(one).toEqual(listed[0]);
    } finally {
      await Promise.all(running.splice(0).map((one) => one.end('SIGKILL')));
      await redis.stop();
    }
  });
});
