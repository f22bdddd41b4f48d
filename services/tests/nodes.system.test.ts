import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../simulator/files/index.js';
import { certificateFile } from '../http/tests/servers.js';
import { pidsOf } from './modelProcesses.js';
import { NodeProcess } from './nodeProcess.js';
import { ServedProcess } from './servedProcess.js';

interface Prediction {
  readonly output: unknown;
  readonly default: boolean;
}

/** Says how long its text is, after 5 ms in which it does nothing else. */
const SLOW = `
const silence = new Int32Array(new SharedArrayBuffer(4));
export default { inputType: 'strings', predict(inputs) {
  Atomics.wait(silence, 0, 0, 5);
  return inputs.map((text) => text.length);
} };`;

let folder: string;
let slow: string;
const nodes: NodeProcess[] = [];
const servers: ServedProcess[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-nodes-'));
  slow = join(folder, 'slow.mjs');
  writeFileSync(slow, SLOW);
});
afterEach(async () => {
  for (const server of servers.splice(0)) if (!server.hasExited) await server.end('SIGKILL');
  for (const node of nodes.splice(0)) {
    node.signal('SIGCONT');
    await node.end('SIGKILL');
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

async function startNode(name: string, args: readonly string[] = [], listen?: string): Promise<NodeProcess> {
  const node = await NodeProcess.start(name, args, listen);
  nodes.push(node);
  return node;
}

async function serve(...args: string[]): Promise<ServedProcess> {
  const server = await ServedProcess.start(['--ephemeral', ...args]);
  servers.push(server);
  return server;
}

const dial = (...dialled: NodeProcess[]): string[] => dialled.flatMap(({ url }) => ['--node', url]);

async function registerSlow(server: ServedProcess, replicas: number): Promise<void> {
  await server.admin('add_app', {
    name: 'slow',
    input_type: 'strings',
    default_output: '-1',
    latency_slo_micros: 5_000_000,
  });
  await server.admin('add_model', {
    model_name: 'slow',
    model_version: '1',
    input_type: 'strings',
    container_name: 'windjammer/process',
    model_data_path: slow,
    num_replicas: replicas,
  });
  await server.admin('add_model_links', { app_name: 'slow', model_names: ['slow'] });
  await untilUp(server, replicas, 60_000);
}

async function upOf(server: ServedProcess): Promise<number> {
  const { replicas_up: up } = (await server.admin('get_model', {
    model_name: 'slow',
    model_version: '1',
  })) as {
    replicas_up: number;
  };
  return up;
}

const untilUp = (server: ServedProcess, replicas: number, timeout: number): Promise<void> =>
  expect.poll(() => upOf(server), { timeout, interval: 50 }).toBe(replicas);

let asked = 0;
async function ask(server: ServedProcess): Promise<Prediction> {
  // Inputs of their own: none is answered from the cache.
  const { status, json, text } = await server.post(`${server.query}/slow/predict`, {
    input: `${(asked += 1)}`.padEnd(12),
  });
  if (status !== 200) throw new Error(`${status} ${text}`);
  return json as Prediction;
}

/** Asks from so many clients until it is told to stop. */
function load(server: ServedProcess, clients: number): () => Promise<readonly Prediction[]> {
  let isOver = false;
  const answers: Prediction[] = [];
  const loops = Array.from({ length: clients }, async () => {
    while (!isOver) answers.push(await ask(server));
  });
  return async () => {
    isOver = true;
    await Promise.all(loops);
    return answers;
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function metric(server: ServedProcess, line: RegExp): Promise<string | undefined> {
  return line.exec(await (await fetch(`${server.query}/metrics`)).text())?.[1];
}

describe('node processes', () => {
  it('run kernel models, constants and users’ processes for two servers, and answer as the embedded GPUs do', async () => {
    const node = await startNode('n1', ['--gpus', 'h200,h200']);
    const [one, two] = await Promise.all([
      serve('--only-nodes', ...dial(node)),
      serve('--only-nodes', ...dial(node)),
    ]);
    const digit = JSON.parse(
      readFileSync(join(packageRoot(), 'containers/models/samples/digit.json'), 'utf8'),
    ) as unknown;
    for (const [index, server] of [one, two].entries()) {
      // A loaded machine misses its objective now and then.
      await expect
        .poll(async () => (await server.post(`${server.query}/digits/predict`, digit)).json, {
          timeout: 20_000,
        })
        .toMatchObject({ output: 7, default: false });
      const noop = await server.post(`${server.query}/noop/predict`, { input: [1, 2, 3] });
      expect(noop.json).toMatchObject({ output: 0, default: false });
      // Five kernel models and the constant, and for the second server what the first has started: one replica each, whoever holds it.
      await expect
        .poll(() => metric(server, /^windjammer_gpu_node_replicas\{node="n1"\} (\d+)/m), { timeout: 10_000 })
        .toBe(String(6 + index));
      await registerSlow(server, 1);
      expect(await ask(server)).toMatchObject({ output: 12, default: false });
    }
    expect(pidsOf(slow)).toHaveLength(1);
    const { text } = await one.post(`${one.management}/admin/record_gpu_timeline`, { seconds: 0.3 });
    expect(text).toContain('traceEvents');
    // The first server goes without a word: the second keeps what both had, and what it had alone ends.
    await one.end('SIGKILL');
    expect(await ask(two)).toMatchObject({ output: 12, default: false });
    expect(pidsOf(slow)).toHaveLength(1);
    // A drain ends with nothing lost, and with its processes.
    const stop = load(two, 4);
    await pause(300);
    expect(await node.end('SIGTERM')).toBe(0);
    const answers = await stop();
    expect(answers.length).toBeGreaterThan(10);
    expect(node.output).toContain('Stopped.');
    await expect.poll(() => pidsOf(slow), { timeout: 10_000 }).toEqual([]);
  });

  it('leave no query unanswered when one of them is killed or stopped under load; its replicas run elsewhere', async () => {
    const [first, second] = await Promise.all([
      startNode('n1', ['--gpus', 'none']),
      startNode('n2', ['--gpus', 'none']),
    ]);
    const server = await serve('--no-defaults', '--only-nodes', ...dial(first, second));
    await registerSlow(server, 4);
    const onNode = (name: string): Promise<string | undefined> =>
      metric(server, new RegExp(`^windjammer_gpu_node_replicas\\{node="${name}"\\} (\\d+)`, 'm'));
    await expect
      .poll(() => Promise.all([onNode('n1'), onNode('n2')]), { timeout: 10_000 })
      .toEqual(['2', '2']);

    let stop = load(server, 16);
    await pause(500);
    await first.end('SIGKILL');
    await expect.poll(() => onNode('n2'), { timeout: 10_000, interval: 50 }).toBe('4');
    await untilUp(server, 4, 10_000);
    let answers = await stop();
    expect(answers.filter(({ output }) => output !== 12)).toEqual([]);
    expect(server.errors).toContain(`GPU node 'n1'`);

    // It comes back, and is used again; then the other one falls silent.
    await startNode('n1', ['--gpus', 'none'], first.address);
    await expect.poll(() => server.errors, { timeout: 20_000 }).toContain('in use again');
    stop = load(server, 16);
    await pause(500);
    const stoppedMs = performance.now();
    second.signal('SIGSTOP');
    await expect
      .poll(() => server.errors, { timeout: 10_000, interval: 20 })
      .toContain('said nothing for 1.5 s');
    // 2 s where the processors are free.
    expect(performance.now() - stoppedMs).toBeLessThan(4000);
    await expect.poll(() => onNode('n1'), { timeout: 10_000, interval: 50 }).toBe('4');
    await untilUp(server, 4, 10_000);
    second.signal('SIGCONT');
    await pause(500);
    answers = await stop();
    // What was on its way to a silent node is asked again elsewhere.
    expect(answers.filter(({ output }) => output !== 12)).toEqual([]);
    // The node that is back has nothing that anybody holds, and keeps it for a while only.
    expect(await upOf(server)).toBe(4);
  });

  it('are reached by TLS and a shared key, or by mutual TLS, and not otherwise', async () => {
    const key = join(folder, 'key');
    writeFileSync(key, 'a cluster key of more than thirty-two letters\n');
    const own = ['--tls-cert', certificateFile('server'), '--tls-key', certificateFile('server-key')];
    const gpus = ['--gpus', 'none'];
    const [keyed, mutual] = await Promise.all([
      startNode('keyed', [...gpus, ...own, '--cluster-key-file', key]),
      startNode('mutual', [...gpus, ...own, '--tls-ca', certificateFile('authority')]),
    ]);
    const client = [
      '--node-tls-cert',
      certificateFile('client'),
      '--node-tls-key',
      certificateFile('client-key'),
    ];
    const ca = ['--node-tls-ca', certificateFile('authority')];
    const onlyNodes = ['--only-nodes', '--no-defaults'];
    const byKey = serve(...onlyNodes, '--cluster-key-file', key, ...dial(keyed));
    const byKeyAndCa = serve(...onlyNodes, '--cluster-key-file', key, ...ca, ...dial(keyed));
    const byCertificate = serve(...onlyNodes, ...ca, ...client, ...dial(mutual));
    const reached = await Promise.all([byKey, byKeyAndCa, byCertificate]);
    for (const [index, server] of reached.entries()) {
      const name = index === 2 ? 'mutual' : 'keyed';
      expect(await metric(server, /^windjammer_gpu_node_replicas\{node="(.*)"\}/m)).toBe(name);
      // Nothing but what was changed.
      expect(server.errors).not.toContain('"level":40');
      await server.end('SIGKILL');
    }
    writeFileSync(key, 'another cluster key of more than thirty-two letters');
    const refused = await Promise.all([
      serve(...onlyNodes, '--cluster-key-file', key, ...dial(keyed)),
      serve(...onlyNodes, ...ca, ...dial(mutual)),
    ]);
    await expect.poll(() => refused[0].errors, { timeout: 20_000 }).toContain('wrong_cluster_key');
    await expect.poll(() => refused[1].errors, { timeout: 20_000 }).toContain('out of use');
    expect(keyed.errors).toContain('wrong_cluster_key');
  });

  it.each<[string, string[], string, string]>([
    ['others can reach it', [], '0.0.0.0:0', 'insecure_listen|can be reached from other machines'],
    ['its key is short', ['--cluster-key-file', 'KEY'], '127.0.0.1:0', '32 are needed'],
    ['its card is unknown', ['--gpus', 'h900'], '127.0.0.1:0', "there is no card 'h900'"],
    ['its address is none', [], 'here', 'expected HOST:PORT'],
    ['its certificate has no key', ['--tls-cert', 'x'], '127.0.0.1:0', 'go together'],
  ])('do not start where %s', async (_what, args, listen, message) => {
    const short = join(folder, 'short');
    writeFileSync(short, 'short');
    const start = NodeProcess.start(
      'n1',
      args.map((arg) => (arg === 'KEY' ? short : arg)),
      listen,
    );
    await expect(start).rejects.toThrow(new RegExp(message));
  });
});
