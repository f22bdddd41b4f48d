import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandFile } from '../cli/index.js';
import {
  RedisCluster,
  startTlsRedis,
  WatchedRedis,
  type RedisVariant,
} from '../redis/tests/redisVariants.js';
import { NodeProcess } from './nodeProcess.js';
import { ServedProcess } from './servedProcess.js';

const pollOptions = { timeout: 30_000, interval: 50 };
const ECHO = `export default { inputType: 'strings', predict: (inputs) => [...inputs] };`;

let folder: string;
let redis: RedisVariant | undefined;
let frontends: ServedProcess[];
let node: NodeProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-variants-'));
  writeFileSync(join(folder, 'echo.mjs'), ECHO);
  frontends = [];
});
afterEach(async () => {
  for (const frontend of frontends) await frontend.end('SIGKILL');
  await node?.end('SIGKILL');
  await redis?.stop();
  node = redis = undefined;
  rmSync(folder, { recursive: true });
});

/** Two frontends and a node that have found each other, and a model that was deployed. */
async function startCluster(): Promise<void> {
  if (redis === undefined) throw new Error('there is no Redis');
  const { url } = redis;
  node = await NodeProcess.start('n1', ['--join', url, '--data-dir', join(folder, 'n1')]);
  frontends = await Promise.all(
    ['a', 'b'].map((name) =>
      ServedProcess.start([
        '--store',
        url,
        '--only-nodes',
        '--no-defaults',
        '--data-dir',
        join(folder, name),
      ]),
    ),
  );
  const [one] = frontends;
  await one.admin('add_app', {
    name: 'echo',
    input_type: 'strings',
    default_output: 'none',
    latency_slo_micros: 5_000_000,
    policy: { name: 'ucb1', parameters: { memory: null } },
  });
  const module = join(folder, 'echo.mjs');
  const deploy = ['deploy', module, '--name', 'echo', '--version', '1', '--app', 'echo'];
  const where = ['--management-url', one.management];
  await promisify(execFile)(process.execPath, [commandFile(), ...deploy, ...where]);
  for (const frontend of frontends) await expect.poll(() => isEchoed(frontend), pollOptions).toBe(true);
}

interface Judged {
  readonly judged: readonly number[];
}

let asked = 0;
async function isEchoed(at: ServedProcess): Promise<boolean> {
  const input = `query ${(asked += 1)}`;
  const { json } = await at.post(`${at.query}/echo/predict`, { input });
  return (json as { readonly output: unknown }).output === input;
}

/** Judges through one frontend until the other one knows so many judgements. */
async function learns(count: number, known: number): Promise<void> {
  const [one, two] = frontends;
  for (let sent = 0; sent < count; sent++) {
    const input = `query ${(asked += 1)}`;
    const { status, text } = await one.post(`${one.query}/echo/update`, { input, label: input });
    expect(status, text).toBe(200);
  }
  const learned = async () => {
    const { state } = (await two.admin('export_state', { app_name: 'echo' })) as { readonly state: Judged };
    return state.judged[0];
  };
  await expect.poll(learned, pollOptions).toBe(known);
}

describe('a cluster works', () => {
  it('with a Redis that speaks TLS alone and asks for certificates', async () => {
    redis = await startTlsRedis();
    await startCluster();
    await learns(3, 3);
  });
  it('with a Redis Cluster of three primaries', async () => {
    const cluster = (redis = await RedisCluster.start());
    await startCluster();
    await learns(3, 3);
    const owner = cluster.ownerOf('{windjammer}:meta');
    await owner.kill();
    const [one] = frontends;
    let applications = 0;
    const status = async () => {
      const application = {
        name: `app${(applications += 1)}`,
        input_type: 'strings',
        default_output: 'none',
      };
      return (
        await one.post(`${one.management}/admin/add_app`, { ...application, latency_slo_micros: 1_000_000 })
      ).status;
    };
    await expect.poll(status, pollOptions).toBe(503);
    for (const frontend of frontends) expect(await isEchoed(frontend)).toBe(true);
    await owner.run();
    await expect.poll(status, pollOptions).toBe(200);
    await learns(2, 5);
  });
  it('with sentinels, which make a replica the primary when that is killed', async () => {
    const watched = (redis = await WatchedRedis.start());
    await startCluster();
    await learns(3, 3);
    await watched.killPrimary();
    const [one, two] = frontends;
    for (const frontend of frontends) expect(await isEchoed(frontend)).toBe(true);
    const model = { model_name: 'echo', model_version: '1' };
    const change = { ...model, num_replicas: 2 };
    await expect
      .poll(
        async () => (await one.post(`${one.management}/admin/set_num_replicas`, change)).status,
        pollOptions,
      )
      .toBe(200);
    await expect
      .poll(async () => (await two.admin('get_model', model)) as object, pollOptions)
      .toMatchObject({ replicas_up: 2 });
    await learns(2, 5);
  });
});
