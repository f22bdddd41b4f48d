import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandFile } from '../cli/index.js';
import { registerDefaults } from '../management/index.js';
import { redisAddress } from '../redis/index.js';
import { RedisServer } from '../redis/tests/redisServer.js';
import { Registry } from '../registry/index.js';
import { openRedisStore } from '../store/index.js';
import { ServedProcess } from './servedProcess.js';

let redis: RedisServer;
let folder: string;
const frontends: ServedProcess[] = [];
beforeEach(async () => {
  redis = await RedisServer.start();
  folder = mkdtempSync(join(tmpdir(), 'windjammer-shared-'));
});
afterEach(async () => {
  await Promise.all(frontends.splice(0).map((one) => one.end('SIGKILL')));
  await redis.stop();
  rmSync(folder, { recursive: true });
});

async function start(name: string): Promise<ServedProcess> {
  const frontend = await ServedProcess.start([
    ...['--store', redis.url, '--redis-prefix', 'shared', '--data-dir', join(folder, name), '--no-defaults'],
    '--v2-repository-control',
  ]);
  frontends.push(frontend);
  return frontend;
}

async function everything(server: ServedProcess): Promise<unknown> {
  const applications = (await server.admin('get_all_applications', { verbose: true })) as { name: string }[];
  const models = (await server.admin('get_all_models', { verbose: true })) as object[];
  return {
    applications,
    models: models.map((model) => ({ ...model, serving: undefined })),
    links: await Promise.all(
      applications.map(({ name }) => server.admin('get_linked_models', { app_name: name })),
    ),
    keys: await server.admin('get_all_keys', {}),
  };
}

const SEEN_MS = 1000;

/** Until it holds; fails after `ms`. */
async function eventually(ms: number, hold: () => Promise<void>): Promise<void> {
  const end = performance.now() + ms;
  for (;;) {
    try {
      await hold();
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

const MODEL = { model_name: 'm', input_type: 'doubles', container_name: 'windjammer/constant', output: '1' };
const APPLICATION = {
  name: 'app',
  input_type: 'doubles',
  default_output: '"none"',
  latency_slo_micros: 1_000_000,
};
const VERBS: readonly (readonly [verb: string, body: object])[] = [
  ['add_model', { ...MODEL, model_version: '1' }],
  ['add_app', APPLICATION],
  ['add_model_links', { app_name: 'app', model_names: ['m'] }],
  ['add_model', { ...MODEL, model_version: '2', output: '2' }],
  ['set_num_replicas', { model_name: 'm', model_version: '2', num_replicas: 2 }],
  ['set_model_version', { model_name: 'm', model_version: '1' }],
  ['set_app', { name: 'app', latency_slo_micros: 500_000, policy: { name: 'exp3' }, strict: true }],
  [
    'set_num_replicas',
    { model_name: 'm', model_version: '1', num_replicas: 1, max_replicas: 3, min_replicas: 1 },
  ],
  ['add_key', { name: 'k', scopes: ['predict'] }],
  ['delete_versioned_model', { model_name: 'm', model_version: '2' }],
  ['delete_model_links', { app_name: 'app', model_names: ['m'] }],
  ['delete_app', { name: 'app' }],
];

describe('frontends that share a Redis', () => {
  it('give the same answers within a second of each verb, whichever was asked', async () => {
    const [a, b] = await Promise.all([start('a'), start('b')]);
    expect(a.output).toContain('state in redis://127.0.0.1');
    for (const [index, [verb, body]] of VERBS.entries()) {
      const [asked, other] = index % 2 === 0 ? [a, b] : [b, a];
      await asked.admin(verb, body);
      const expected = await everything(asked);
      await eventually(SEEN_MS, async () => expect(await everything(other)).toEqual(expected));
      if (verb === 'add_model_links') {
        await eventually(10_000, async () => {
          const { json } = await other.post(`${other.query}/app/predict`, { input: [1] });
          expect(json).toMatchObject({ output: 1, default: false });
        });
      }
    }
  });

  it('answer queries while Redis is away, refuse changes and say so, and go on when it is back', async () => {
    const [a, b] = await Promise.all([start('a'), start('b')]);
    for (const [verb, body] of VERBS.slice(0, 3)) await a.admin(verb, body);
    const predict = async (server: ServedProcess) => {
      const { json } = await server.post(`${server.query}/app/predict`, { input: [1] });
      expect(json).toMatchObject({ output: 1, default: false });
    };
    await eventually(10_000, () => predict(b));
    await redis.kill();
    const ready = async (server: ServedProcess) => await (await fetch(`${server.query}/readyz`)).json();
    await eventually(5000, async () => {
      expect(await ready(b)).toMatchObject({ status: 'ready', store: { cause: 'unreachable' } });
    });
    await predict(b);
    const refused = await fetch(`${b.management}/admin/add_app`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...APPLICATION, name: 'more' }),
    });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.text()).toMatch(/store_failed.*cannot be reached/);
    // Nor is it judged by what was registered when Redis was last heard.
    await expect(b.admin('delete_app', { name: 'others' })).rejects.toThrow(/503.*cannot be reached/);
    const unloaded = await b.post(`${b.query}/v2/repository/models/others/unload`, {});
    expect([unloaded.status, JSON.stringify(unloaded.json)]).toEqual([
      503,
      expect.stringContaining('cannot be reached'),
    ]);
    const metrics = await (await fetch(`${b.query}/metrics`)).text();
    expect(metrics).toContain('windjammer_store_failing{cause="unreachable"} 1');
    expect(metrics).toMatch(/windjammer_store_lag_seconds 0?\.?[0-9.]*[1-9]/);
    await redis.run();
    await eventually(5000, async () => {
      expect(await ready(a)).toEqual({ status: 'ready' });
      expect(await ready(b)).toEqual({ status: 'ready' });
    });
    await b.admin('add_app', { ...APPLICATION, name: 'more' });
    await eventually(SEEN_MS, async () => expect(await everything(a)).toEqual(await everything(b)));
  });

  it('stop writing when Redis has lost its data, and have it back from one of them', async () => {
    const [a, b] = await Promise.all([start('a'), start('b')]);
    for (const [verb, body] of VERBS.slice(0, 3)) await a.admin(verb, body);
    const before = await everything(a);
    await eventually(SEEN_MS, async () => expect(await everything(b)).toEqual(before));
    const repair = () =>
      spawnSync(process.execPath, [commandFile(), 'cluster', 'repair', '--from', b.management], {
        encoding: 'utf8',
      });
    expect(repair().stderr).toMatch(/409 no_repair_needed: .*needs no repair/);
    const admin = new Redis(redis.port, '127.0.0.1');
    await admin.flushall();
    admin.disconnect();
    await eventually(5000, async () => {
      for (const one of [a, b]) {
        const text = await (await fetch(`${one.query}/readyz`)).text();
        expect(text).toMatch(/"cause":"behind".*windjammer cluster repair/);
      }
    });
    await expect(a.admin('delete_app', { name: 'app' })).rejects.toThrow(/503.*lost changes/);
    const { status, stdout, stderr } = repair();
    expect([status, stdout, stderr]).toEqual([0, expect.stringMatching(/Success!/), '']);
    await eventually(5000, async () => {
      for (const one of [a, b])
        expect(await (await fetch(`${one.query}/readyz`)).json()).toEqual({ status: 'ready' });
    });
    expect(await everything(a)).toEqual(before);
    await a.admin('delete_app', { name: 'app' });
    await eventually(SEEN_MS, async () => expect(await everything(b)).toEqual(await everything(a)));
  });

  it('register what comes with the product once, when they start together', async () => {
    const open = () =>
      openRedisStore({ address: redisAddress(redis.url), prefix: 'fresh', complain: () => undefined });
    const stores = await Promise.all([open(), open(), open()]);
    const registries = stores.map((store) => new Registry(store));
    await Promise.all(stores.map((store, i) => registerDefaults(store, registries[i])));
    const late = await open();
    const registry = new Registry(late);
    expect(registry.applications().map(({ name }) => name)).toEqual(['digits', 'noop']);
    expect(new Set(registry.linkedNames('digits')).size).toBe(5);
    expect(registry.linkedNames('digits')).toHaveLength(5);
    // An application that its owner deletes stays away.
    await registry.deleteApplication('noop');
    await registerDefaults(late, registry);
    expect(registry.application('noop')).toBeUndefined();
    await Promise.all([...stores, late].map((store) => new Promise<void>((resolve) => store.close(resolve))));
  });
});
