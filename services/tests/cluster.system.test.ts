import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { builtInModelPath } from '../../containers/models/index.js';
import { packageRoot } from '../../simulator/files/index.js';
import { commandFile } from '../cli/index.js';
import type { ClusterAnswer } from '../management/index.js';
import { RedisServer } from '../redis/tests/redisServer.js';
import { clusterWithoutTimes } from './clusterWithoutTimes.js';
import { pidsOf } from './modelProcesses.js';
import { NodeProcess } from './nodeProcess.js';
import { ServedProcess } from './servedProcess.js';

interface Answer {
  readonly output: unknown;
  readonly default: boolean;
}

/** Answers with what it is asked. */
const ECHO = `export default { inputType: 'strings', predict: (inputs) => [...inputs] };`;
const NODES = ['n1', 'n2', 'n3'] as const;
/** On a machine that does much else besides; nothing here waits for so long where it is free. */
const pollOptions = { timeout: 30_000, interval: 50 };

let redis: RedisServer;
let folder: string;
let echo: string;
let key: string;
let digit: unknown;
const nodes = new Map<string, NodeProcess>();
const frontends: ServedProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-cluster-'));
  echo = join(folder, 'echo.mjs');
  writeFileSync(echo, ECHO);
  key = join(folder, 'key');
  writeFileSync(key, 'a cluster key of more than thirty-two letters');
  digit = JSON.parse(readFileSync(join(packageRoot(), 'containers/models/samples/digit.json'), 'utf8'));
  redis = await RedisServer.start();
  await Promise.all([
    ...NODES.map((name) => startNode(name)),
    ...['a', 'b', 'c'].map((name) => startFrontend(name)),
  ]);
  const [first] = frontends;
  await register(first, 'noop', 'doubles', { container_name: 'windjammer/constant', output: '0' });
  await register(first, 'digits', 'floats', {
    container_name: 'windjammer/kernel-model',
    model_data_path: builtInModelPath('digits-logistic'),
    num_replicas: 2,
  });
  await register(first, 'echo', 'strings', {
    container_name: 'windjammer/process',
    model_data_path: echo,
    num_replicas: 2,
  });
  for (const frontend of frontends) await allUp(frontend);
  // It has travelled: whatever starts from now on does so without the file that was registered.
  rmSync(echo);
});
afterAll(async () => {
  for (const frontend of frontends) if (!frontend.hasExited) await frontend.end('SIGKILL');
  for (const node of nodes.values()) await node.end('SIGKILL');
  await redis.stop();
  rmSync(folder, { recursive: true });
});

async function startNode(name: string, listen?: string): Promise<void> {
  nodes.set(
    name,
    await NodeProcess.start(name, ['--join', redis.url, '--data-dir', join(folder, name)], listen),
  );
}

async function startFrontend(name: string, ...args: string[]): Promise<ServedProcess> {
  const shared = ['--store', redis.url, '--only-nodes', '--no-defaults'];
  const frontend = await ServedProcess.start([...shared, '--data-dir', join(folder, name), ...args]);
  frontends.push(frontend);
  return frontend;
}

async function register(at: ServedProcess, name: string, inputType: string, model: object): Promise<void> {
  const application = { input_type: inputType, default_output: '-1', latency_slo_micros: 5_000_000 };
  await at.admin('add_app', { name, ...application });
  await at.admin('add_model', { model_name: name, model_version: '1', input_type: inputType, ...model });
  await at.admin('add_model_links', { app_name: name, model_names: [name] });
}

/** A command that is refused. */
async function run(args: readonly string[]): Promise<{ readonly status: unknown; readonly stderr: string }> {
  try {
    await promisify(execFile)(process.execPath, [commandFile(), ...args], { timeout: 60_000 });
    return { status: 0, stderr: '' };
  } catch (error) {
    const { code, stderr } = error as { readonly code: unknown; readonly stderr: string };
    return { status: code, stderr };
  }
}

const status = async (at: ServedProcess) => (await at.admin('cluster_status', {})) as ClusterAnswer;

async function nodeStatus(at: ServedProcess, name: string): Promise<Partial<ClusterAnswer['nodes'][number]>> {
  return (await status(at)).nodes.find((node) => node.name === name) ?? {};
}

/** How many replicas these nodes have together, as a frontend sees it. */
async function placedOn(at: ServedProcess, ...names: readonly string[]): Promise<number> {
  const { nodes: seen } = await status(at);
  return seen.filter(({ name }) => names.includes(name)).reduce((sum, { replicas }) => sum + replicas, 0);
}

async function up(at: ServedProcess, model: string): Promise<number> {
  const found = (await at.admin('get_model', { model_name: model, model_version: '1' })) as {
    replicas_up: number;
  };
  return found.replicas_up;
}

async function allUp(at: ServedProcess): Promise<void> {
  const counts = () => Promise.all(['noop', 'digits', 'echo'].map((model) => up(at, model)));
  await vi.waitFor(async () => expect(await counts()).toEqual([1, 2, 2]), pollOptions);
}

/** How many replicas a node says that it runs, as a frontend shows it. */
async function reported(at: ServedProcess, node: string): Promise<number> {
  const text = await (await fetch(`${at.query}/metrics`)).text();
  return Number(new RegExp(`^windjammer_gpu_node_replicas\\{node="${node}"\\} (\\d+)`, 'm').exec(text)?.[1]);
}

let asked = 0;
/** Asks the echo, with an input of its own: none is answered from a cache. @returns whether it was answered by the model */
async function isEchoed(at: ServedProcess, application = 'echo'): Promise<boolean> {
  const input = `query ${(asked += 1)}`;
  const { status: code, json, text } = await at.post(`${at.query}/${application}/predict`, { input });
  if (code !== 200) throw new Error(`${code} ${text}`);
  const answer = json as Answer;
  if (!answer.default && answer.output !== input)
    throw new Error(`${input} got the answer of ${String(answer.output)}`);
  return !answer.default;
}

/** Whether a frontend says of itself that it places. */
async function isPlacing(at: ServedProcess): Promise<boolean> {
  return (await status(at)).frontends.some(
    ({ management, placing }) => management === at.management && placing,
  );
}

/** Asks through these until it is told to stop. The end throws where a query was not answered, or with another's answer. */
function load(
  through: readonly ServedProcess[],
  application?: string,
): () => Promise<{ answered: number; defaults: number }> {
  let isOver = false;
  const seen = { answered: 0, defaults: 0 };
  const loops = Promise.allSettled(
    through
      .flatMap((at) => [at, at, at, at])
      .map(async (at) => {
        while (!isOver) {
          if (!(await isEchoed(at, application))) seen.defaults++;
          seen.answered++;
        }
      }),
  );
  return async () => {
    isOver = true;
    const failed = (await loops).find((loop) => loop.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return seen;
  };
}

/** The one that places; undefined: none does. */
async function placing(): Promise<ServedProcess | undefined> {
  for (const frontend of frontends) if (await isPlacing(frontend)) return frontend;
  return undefined;
}

describe('three frontends and three nodes', () => {
  it('see each other, answer alike, and use the same replicas; one frontend places', async () => {
    for (const frontend of frontends) {
      expect(await isEchoed(frontend)).toBe(true);
      const noop = await frontend.post(`${frontend.query}/noop/predict`, { input: [1] });
      expect(noop.json).toMatchObject({ output: 0, default: false });
      const seven = await frontend.post(`${frontend.query}/digits/predict`, digit);
      expect(seven.json).toMatchObject({ output: 7, default: false });
    }
    await expect
      .poll(async () => {
        const seen = await Promise.all(frontends.map(status));
        return seen.map((each) => ({
          frontends: each.frontends.map(({ management, alive }) => [management, alive]).sort(),
          placing: each.frontends.filter(({ placing: does }) => does).length,
          nodes: each.nodes.map((node) => [node.name, node.alive, node.connected, node.cordoned]),
        }));
      }, pollOptions)
      .toEqual(
        frontends.map(() => ({
          frontends: frontends.map(({ management }) => [management, true]).sort(),
          placing: 1,
          nodes: NODES.map((name) => [name, true, true, false]),
        })),
      );
    const [first, ...others] = await Promise.all(frontends.map(status));
    for (const other of others) expect(clusterWithoutTimes(other)).toEqual(clusterWithoutTimes(first));
    // Five are placed: each runs once, whoever uses it.
    expect(first.nodes.map(({ replicas }) => replicas).sort()).toEqual([1, 2, 2]);
    for (const { name, replicas } of first.nodes) {
      for (const frontend of frontends)
        await expect.poll(() => reported(frontend, name), pollOptions).toBe(replicas);
    }
    expect(pidsOf('modelProcess.js', folder)).toHaveLength(2);
  });

  it('deploy through any of them: that a replica has no place yet is no failure', async () => {
    const module = join(folder, 'deployed.mjs');
    writeFileSync(module, ECHO);
    for (const [number, at] of frontends.entries()) {
      const name = `deployed-${number}`;
      const where = ['--management-url', at.management];
      expect(await run(['deploy', module, '--name', name, '--version', '1', ...where])).toMatchObject({
        status: 0,
      });
      for (const frontend of frontends) {
        const containers = (await frontend.admin('get_all_containers', { verbose: true })) as readonly {
          readonly model_name: string;
          readonly restarts: number;
          readonly last_failure?: string;
        }[];
        const own = containers.filter(({ model_name: model }) => model === name);
        expect(own).toMatchObject([{ restarts: 0 }]);
        expect(own[0].last_failure).toBeUndefined();
      }
      await at.admin('delete_versioned_model', { model_name: name, model_version: '1' });
    }
  });

  it('answer every query while two nodes are killed, and run their replicas on the third', async () => {
    const killed = ['n1', 'n2'] as const;
    const addresses = killed.map((name) => nodes.get(name)?.address);
    const stop = load(frontends);
    await Promise.all(killed.map(async (name) => nodes.get(name)?.end('SIGKILL')));
    const killedMs = performance.now();
    for (const frontend of frontends) {
      await expect.poll(() => placedOn(frontend, 'n3'), pollOptions).toBe(5);
      await expect.poll(() => isEchoed(frontend), pollOptions).toBe(true);
    }
    // Their promise is 10 s, on a machine that does nothing else.
    expect(performance.now() - killedMs).toBeLessThan(20_000);
    for (const frontend of frontends) {
      await allUp(frontend);
      for (const name of killed)
        expect(await nodeStatus(frontend, name)).toMatchObject({
          alive: false,
          connected: false,
          replicas: 0,
        });
    }
    const { answered } = await stop();
    expect(answered).toBeGreaterThan(20);
    await Promise.all(killed.map((name, at) => startNode(name, addresses[at])));
    for (const frontend of frontends) {
      for (const name of killed)
        await expect
          .poll(() => nodeStatus(frontend, name), pollOptions)
          .toMatchObject({ alive: true, connected: true });
    }
  });

  it('answer while nodes are drained, also by a model with one replica, and balance what there is afterwards', async () => {
    const [one, two] = frontends;
    const module = join(folder, 'alone.mjs');
    writeFileSync(module, ECHO);
    await register(one, 'alone', 'strings', {
      container_name: 'windjammer/process',
      model_data_path: module,
    });
    for (const frontend of frontends) await expect.poll(() => up(frontend, 'alone'), pollOptions).toBe(1);
    const ends = [load(frontends), load([one, two], 'alone')];
    const isEmptied = (node: string, at: ServedProcess) =>
      expect.poll(() => nodeStatus(at, node), pollOptions).toMatchObject({ cordoned: true, replicas: 0 });
    await one.admin('drain_node', { node: 'n3' });
    await isEmptied('n3', two);
    expect(await placedOn(two, 'n1', 'n2')).toBe(6);
    for (const frontend of frontends) {
      await allUp(frontend);
      await expect.poll(() => reported(frontend, 'n3'), pollOptions).toBe(0);
    }
    // Whatever was where before, all of it moves now.
    await two.admin('undrain_node', { node: 'n3' });
    for (const node of ['n1', 'n2']) await two.admin('drain_node', { node });
    for (const node of ['n1', 'n2']) await isEmptied(node, one);
    for (const node of ['n1', 'n2']) await two.admin('undrain_node', { node });
    // By itself, a replica at a time.
    await expect.poll(() => placedOn(one, 'n1', 'n2'), pollOptions).toBeGreaterThan(0);
    await two.admin('set_num_replicas', { model_name: 'echo', model_version: '1', num_replicas: 3 });
    for (const frontend of frontends) await expect.poll(() => up(frontend, 'echo'), pollOptions).toBe(3);
    await two.admin('set_num_replicas', { model_name: 'echo', model_version: '1', num_replicas: 2 });
    for (const frontend of frontends) await allUp(frontend);
    // There is always one that answers.
    for (const end of ends) expect(await end()).toMatchObject({ defaults: 0 });
    for (const frontend of frontends) {
      const containers = (await frontend.admin('get_all_containers', { verbose: true })) as readonly {
        readonly restarts: number;
      }[];
      expect(containers.filter(({ restarts }) => restarts > 0)).toEqual([]);
    }
    await one.admin('delete_model_links', { app_name: 'alone', model_names: ['alone'] });
    await one.admin('delete_versioned_model', { model_name: 'alone', model_version: '1' });
  });

  it('go on when Redis is killed under load; changes are refused until it is back', async () => {
    const [one, two] = frontends;
    const stop = load(frontends);
    await redis.kill();
    const scaled = (at: ServedProcess, replicas: number) =>
      at.post(`${at.management}/admin/set_num_replicas`, {
        model_name: 'noop',
        model_version: '1',
        num_replicas: replicas,
      });
    for (const frontend of frontends) {
      await expect.poll(async () => (await scaled(frontend, 2)).status, pollOptions).toBe(503);
    }
    // Longer than a lease holds, and than anybody is thought to be there without a word.
    await expect.poll(placing, pollOptions).toBeUndefined();
    for (const frontend of frontends) {
      expect(await isEchoed(frontend)).toBe(true);
      expect((await status(frontend)).nodes.map(({ connected }) => connected)).toEqual([true, true, true]);
    }
    await redis.run();
    await expect.poll(async () => (await scaled(two, 2)).status, pollOptions).toBe(200);
    await expect.poll(() => up(one, 'noop'), pollOptions).toBe(2);
    expect((await scaled(one, 1)).status).toBe(200);
    for (const frontend of frontends) await allUp(frontend);
    expect(await stop()).toMatchObject({ defaults: 0 });
  });

  it('follow a frontend that places and is killed, and the next one: another one places', async () => {
    for (let left = frontends.length; left > 1; left--) {
      await expect.poll(placing, pollOptions).toBeDefined();
      const killed = await placing();
      const others = frontends.filter((frontend) => frontend !== killed);
      const [other] = others;
      const stop = load(others);
      await killed?.end('SIGKILL');
      const killedMs = performance.now();
      await other.admin('set_num_replicas', { model_name: 'noop', model_version: '1', num_replicas: left });
      await expect.poll(() => up(other, 'noop'), pollOptions).toBe(left);
      // Its lease has 3 s; the rest is for a machine that does much else.
      expect(performance.now() - killedMs).toBeLessThan(10_000);
      expect(await stop()).toMatchObject({ defaults: 0 });
      await expect
        .poll(async () => {
          const seen = await status(other);
          return seen.frontends.find(({ management }) => management === killed?.management);
        }, pollOptions)
        .toMatchObject({ alive: false, placing: false });
      frontends.splice(0, left, ...others);
    }
    // Another one in their place.
    await frontends[0].admin('set_num_replicas', { model_name: 'noop', model_version: '1', num_replicas: 1 });
    const next = await startFrontend('d');
    await allUp(next);
    expect(await isEchoed(next)).toBe(true);
    // What those that were killed held as well is kept for others for 10 s.
    await expect.poll(() => pidsOf('modelProcess.js', folder), pollOptions).toHaveLength(2);
  });
});

describe('a cluster refuses by name', () => {
  /** What it says before it ends. */
  const said = async (args: readonly string[]): Promise<string> => {
    const { status: code, stderr } = await run(args);
    expect(code).toBe(1);
    return stderr;
  };
  const node = (...args: string[]) => said(['node', '--gpus', 'none', ...args]);
  const listen = ['--listen', '127.0.0.1:0'];

  it('a node whose name one has that is alive', async () => {
    expect(await node('--name', 'n1', ...listen, '--join', redis.url)).toContain(
      "there is a node 'n1' in this cluster, and it is alive: give this one another name, or stop that one",
    );
  });

  it('a node whose Redis cannot be reached, or whose address others cannot dial', async () => {
    const nobody = 'redis://127.0.0.1:1';
    expect(await node('--name', 'n4', ...listen, '--join', nobody)).toMatch(/127\.0\.0\.1:1\b.*ECONNREFUSED/);
    const everywhere = ['--listen', '0.0.0.0:0', '--cluster-key-file', key];
    expect(await node('--name', 'n4', ...everywhere, '--join', redis.url)).toContain(
      '--listen 0.0.0.0 names no address that others can dial: say which with --advertise HOST:PORT',
    );
    expect(await node('--name', 'n4', ...listen, '--advertise', 'b:4101')).toContain(
      '--advertise is for --join',
    );
  });

  it('a frontend that is to find its nodes nowhere', async () => {
    expect(
      await said(['serve', '--ephemeral', '--port', '0', '--management-port', '0', '--only-nodes']),
    ).toContain('--only-nodes needs nodes: give --node, or --store redis://HOST');
  });

  it('to drain a node that there is not, and to be one where each server runs its models itself', async () => {
    const [one] = frontends;
    const drained = await one.post(`${one.management}/admin/drain_node`, { node: 'n9' });
    expect(drained).toMatchObject({
      status: 404,
      json: { error: { code: 'unknown_node', field: 'node' } },
    });
    expect(drained.text).toContain("the cluster has no node 'n9': there are n1, n2, n3");
    const alone = await ServedProcess.start(['--ephemeral', '--no-defaults', '--gpus', 'a100']);
    try {
      for (const [verb, body] of [
        ['cluster_status', {}],
        ['drain_node', { node: 'n1' }],
      ] as const) {
        expect(await alone.post(`${alone.management}/admin/${verb}`, body)).toMatchObject({
          status: 409,
          json: { error: { code: 'not_a_cluster' } },
        });
      }
    } finally {
      await alone.end('SIGKILL');
    }
  });

  it('a frontend and nodes that have not the same key', async () => {
    const keyed = await startFrontend('keyed', '--cluster-key-file', key);
    await expect.poll(() => keyed.errors, pollOptions).toMatch(/cluster_key_missing|wrong_cluster_key/);
    expect((await status(keyed)).nodes).toMatchObject(
      NODES.map((name) => ({ name, alive: true, connected: false })),
    );
    await keyed.end('SIGKILL');
    frontends.splice(frontends.indexOf(keyed), 1);
  });
});
