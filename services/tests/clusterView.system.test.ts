import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { commandFile } from '../cli/index.js';
import type { ClusterAnswer } from '../management/index.js';
import { RedisServer } from '../redis/tests/redisServer.js';
import { NodeProcess } from './nodeProcess.js';
import { ServedProcess } from './servedProcess.js';

/** What a frontend says of a cluster whose parts come, fall silent and go. */

const pollOptions = { timeout: 30_000, interval: 50 };

interface Ready {
  readonly status?: string;
  readonly error?: { readonly message: string };
  readonly store?: object;
  readonly missing?: readonly {
    readonly what: string;
    readonly since?: string;
    readonly message: string;
  }[];
}

let redis: RedisServer;
let folder: string;
let frontend: ServedProcess;
const nodes: NodeProcess[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-view-'));
  redis = await RedisServer.start();
  frontend = await ServedProcess.start([
    ...['--store', redis.url, '--only-nodes', '--no-defaults', '--data-dir', join(folder, 'f')],
  ]);
}, 60_000);
afterAll(async () => {
  await frontend.end('SIGKILL');
  for (const node of nodes) await node.end('SIGKILL');
  await redis.stop();
  rmSync(folder, { recursive: true });
});

async function startNode(name: string, ...args: string[]): Promise<NodeProcess> {
  const node = await NodeProcess.start(name, ['--join', redis.url, ...args]);
  nodes.push(node);
  return node;
}

/** What `windjammer gpu top` prints once. */
async function top(): Promise<string> {
  const words = [commandFile(), 'gpu', 'top', '--once', '--management-url', frontend.management];
  return (await promisify(execFile)(process.execPath, words)).stdout;
}

const ready = async () => (await (await fetch(`${frontend.query}/readyz`)).json()) as Ready;
const missing = async () => (await ready()).missing ?? [];
const status = async () => (await frontend.admin('cluster_status', {})) as ClusterAnswer;

/** Of a series; undefined: there is none. */
async function metric(series: string): Promise<number | undefined> {
  const text = await (await fetch(`${frontend.query}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length));
}

it('names the nodes that there are not, and the models that have no place for that', async () => {
  expect(await ready()).toMatchObject({
    status: 'ready',
    missing: [{ what: 'nodes', message: expect.stringContaining('windjammer node --join') as string }],
  });
  await frontend.admin('add_app', {
    name: 'noop',
    input_type: 'doubles',
    default_output: '-1',
    latency_slo_micros: 5_000_000,
  });
  await frontend.admin('add_model', {
    model_name: 'noop',
    model_version: '1',
    input_type: 'doubles',
    container_name: 'windjammer/constant',
    output: '0',
    num_replicas: 2,
  });
  await frontend.admin('add_model_links', { app_name: 'noop', model_names: ['noop'] });
  await expect.poll(missing, pollOptions).toMatchObject([
    { what: 'nodes' },
    {
      what: 'replicas',
      model: 'noop',
      version: '1',
      up: 0,
      wanted: 2,
      message: expect.stringContaining('no node has room') as string,
    },
  ]);
  expect(await metric('windjammer_cluster_members{kind="node",state="alive"}')).toBe(0);
  expect(await metric('windjammer_cluster_members{kind="frontend",state="alive"}')).toBe(1);
});

it('says nothing is missing once there is a node, and how old the last words are', async () => {
  await startNode('n1');
  await expect.poll(ready, pollOptions).toEqual({ status: 'ready' });
  const { frontends, nodes: seen } = await status();
  expect(frontends).toMatchObject([{ placing: true, alive: true }]);
  expect(frontends[0].last_word_seconds).toBeLessThan(10);
  await expect.poll(async () => (await status()).nodes[0].round_trip_seconds, pollOptions).toBeGreaterThan(0);
  expect(seen[0]).toMatchObject({ name: 'n1', alive: true, connected: true, cordoned: false, replicas: 2 });
  const values = {
    'windjammer_node_connected{node="n1"}': 1,
    'windjammer_node_alive{node="n1"}': 1,
    'windjammer_node_cordoned{node="n1"}': 0,
    'windjammer_node_replicas_placed{node="n1"}': 2,
    [`windjammer_frontend_places{frontend="${frontends[0].name}"}`]: 1,
    'windjammer_cluster_members{kind="node",state="away"}': 0,
    windjammer_feedback_spool_limit_bytes: 64 * 1024 * 1024,
  };
  for (const [series, value] of Object.entries(values)) expect(await metric(series), series).toBe(value);
  await expect
    .poll(top, pollOptions)
    .toMatch(/NVIDIA H200 +n1: [^]*\nn1 +alive +tcp:[^]* h200 +2 +now\n[^]*places replicas/);
  expect(await metric('windjammer_node_round_trip_seconds{node="n1"}')).toBeGreaterThan(0);
  expect(await metric('windjammer_node_last_word_seconds{node="n1"}')).toBeLessThan(10);
});

it('says since when Redis is away, and why', async () => {
  const beforeMs = Date.now();
  await redis.kill();
  await expect.poll(missing, pollOptions).toMatchObject([{ what: 'store', cause: 'unreachable' }]);
  const [{ since, message }] = await missing();
  expect(message).toContain('cannot be reached');
  expect(Date.parse(since ?? '')).toBeGreaterThanOrEqual(beforeMs - 1);
  await expect
    .poll(() => metric('windjammer_node_last_word_seconds{node="n1"}'), pollOptions)
    .toBeGreaterThan(1);
  // It is the same absence, however often it is asked.
  expect(await missing()).toMatchObject([{ what: 'store', since }]);
  // The node is used on.
  expect(await metric('windjammer_node_connected{node="n1"}')).toBe(1);
  await redis.run();
  await expect.poll(ready, pollOptions).toEqual({ status: 'ready' });
});

it('names a node that is silent, one that is drained, and one that is gone', async () => {
  nodes[0].signal('SIGSTOP');
  await expect.poll(missing, pollOptions).toMatchObject([
    { what: 'nodes', message: expect.stringMatching(/n1( was last heard of|: .*said nothing)/) as string },
    { what: 'replicas', model: 'noop', up: 0, wanted: 2 },
  ]);
  await expect.poll(() => metric('windjammer_node_alive{node="n1"}'), pollOptions).toBe(0);
  expect(await metric('windjammer_node_connected{node="n1"}')).not.toBe(1);
  expect(await metric('windjammer_node_last_word_seconds{node="n1"}')).toBeGreaterThan(1);
  expect(await top()).toMatch(/No GPU is in use[^]*\nn1 +away, not connected [^]* s ago\n/);
  nodes[0].signal('SIGCONT');
  await expect.poll(ready, pollOptions).toEqual({ status: 'ready' });
  await startNode('n2', '--gpus', 'none');
  await expect.poll(() => metric('windjammer_node_connected{node="n2"}'), pollOptions).toBe(1);
  await frontend.admin('drain_node', { node: 'n1' });
  await expect.poll(() => metric('windjammer_node_replicas_placed{node="n2"}'), pollOptions).toBe(2);
  expect(await metric('windjammer_node_cordoned{node="n1"}')).toBe(1);
  expect(await ready()).toEqual({ status: 'ready' });
  expect(await top()).toMatch(/\nn1 +alive, drained [^]*\nn2 +alive +tcp:/);
  await nodes[0].end('SIGTERM');
  // One that was stopped in order is not missed.
  await expect.poll(() => metric('windjammer_node_connected{node="n1"}'), pollOptions).toBeUndefined();
  expect((await status()).nodes.map(({ name }) => name)).toEqual(['n2']);
  await nodes[1].end('SIGKILL');
  await expect.poll(missing, pollOptions).toMatchObject([{ what: 'nodes' }, { what: 'replicas', up: 0 }]);
});
