import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WindjammerClient } from '../client/index.js';
import type { EmbeddedServer } from '../main.js';
import { connectRedis, openRedis, redisAddress } from '../redis/index.js';
import { RedisServer } from '../redis/tests/redisServer.js';
import { openRedisStore } from '../store/index.js';
import { startEmbedded } from './embeddedServer.js';
import { NodeProcess } from './nodeProcess.js';

/** 20 ms an input, one after the other. */
const SLOW = `export default {
  inputType: 'strings',
  predict: async (inputs) => {
    await new Promise((resolve) => setTimeout(resolve, 20 * inputs.length));
    return [...inputs];
  },
};`;
const MS = 1e6;
const pollOptions = { timeout: 60_000, interval: 100 };

let redis: RedisServer;
let node: NodeProcess;
let folder: string;
const frontends: EmbeddedServer[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-scale-'));
  redis = await RedisServer.start();
  node = await NodeProcess.start('n1', ['--gpus', 'none', '--join', redis.url]);
  const address = redisAddress(redis.url);
  for (let frontend = 0; frontend < 2; frontend++) {
    const open = async () => {
      const connection = openRedis(address, { name: 'test', kind: 'command', onError: () => undefined });
      await connectRedis(connection, address);
      return connection;
    };
    frontends.push(
      await startEmbedded({
        openSharedStore: () => openRedisStore({ address, prefix: 'windjammer', complain: () => undefined }),
        cluster: { open, prefix: 'windjammer' },
        autoscaling: {
          targetUtilisation: 0.7,
          tolerance: 0.1,
          intervalNs: 500 * MS,
          upCoolDownNs: 1000 * MS,
          downCoolDownNs: 600_000 * MS,
        },
      }),
    );
  }
}, 120_000);
afterAll(async () => {
  for (const frontend of frontends) await frontend.stop({ noticeMs: 0, graceMs: 0 });
  await node.end('SIGKILL');
  await redis.stop();
  rmSync(folder, { recursive: true });
});

it('replicas follow the load of every frontend, and not of the one that places alone', async () => {
  const path = join(folder, 'slow.mjs');
  writeFileSync(path, SLOW);
  const clients = frontends.map(
    ({ queryAddress, managementAddress }) =>
      new WindjammerClient({
        queryUrl: `http://127.0.0.1:${queryAddress.port}`,
        managementUrl: `http://127.0.0.1:${managementAddress.port}`,
      }),
  );
  const { management } = clients[0];
  await management.addApplication({
    name: 'slow',
    input_type: 'strings',
    default_output: 'none',
    latency_slo_micros: 10_000_000,
  });
  await management.addModel({
    model_name: 'slow',
    model_version: '1',
    input_type: 'strings',
    container_name: 'windjammer/process',
    model_data_path: path,
    min_replicas: 1,
    max_replicas: 2,
  });
  await management.addLinks('slow', ['slow']);
  const shown = (client: WindjammerClient) => client.management.model('slow', '1');
  for (const client of clients)
    await expect.poll(async () => (await shown(client)).replicas_up, pollOptions).toBe(1);
  const { frontends: all } = await management.clusterStatus();
  const placing = all.find((one) => one.placing)?.query;
  const other = clients.find((_, at) => `http://127.0.0.1:${frontends[at].queryAddress.port}` !== placing);
  if (placing === undefined || other === undefined) throw new Error('no frontend places');
  let isOver = false;
  let asked = 0;
  const loops = Array.from({ length: 16 }, async () => {
    while (!isOver) await other.predict('slow', `query ${(asked += 1)}`);
  });
  await expect.poll(async () => (await shown(other)).replicas_up, pollOptions).toBe(2);
  isOver = true;
  await Promise.all(loops);
});
