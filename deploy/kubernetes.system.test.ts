import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Container } from './tests/container.js';
import { ContainerNetwork } from './tests/containerNetwork.js';
import { buildImage } from './tests/dockerImage.js';
import { KubernetesPods } from './tests/kubernetesPods.js';
import { Load, LoadBalancer } from './tests/loadBalancer.js';
import { startRedis } from './tests/redisContainer.js';
import { MAY_ISOLATE } from './tests/mayIsolate.js';

const FRONTEND = 'windjammer-frontend';
const NODE = 'windjammer-node';
const FRONTENDS = [`${FRONTEND}-a`, `${FRONTEND}-b`] as const;
/** That replace those before them. */
const NEXT_FRONTENDS = [`${FRONTEND}-c`, `${FRONTEND}-d`] as const;
const NODES = [`${NODE}-0`, `${NODE}-1`] as const;

const DOUBLE = `export default { inputType: 'doubles', inputLength: 1, predictOne: ([x]) => 2 * x };`;

describe.runIf(MAY_ISOLATE)('pods of deploy/kubernetes, started as processes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'windjammer-kubernetes-'));
  const password = randomBytes(16).toString('hex');
  let network: ContainerNetwork;
  let pods: KubernetesPods;
  let redis: Container;

  beforeAll(async () => {
    network = new ContainerNetwork();
    const image = await buildImage(join(folder, 'image'));
    redis = await startRedis(network, 'redis', join(folder, 'redis'), password);
    const secret = {
      'redis-url': `redis://:${password}@redis:6379`,
      'cluster-key': randomBytes(32).toString('hex'),
    };
    pods = new KubernetesPods(folder, image, network, secret, { redis: network.address('redis') });
    for (const name of NODES) pods.expectPod(NODE, name);
    for (const name of [...FRONTENDS, ...NEXT_FRONTENDS]) pods.expectPod(FRONTEND, name);
    await Promise.all([
      ...NODES.map((name) => up(NODE, name)),
      ...FRONTENDS.map((name) => up(FRONTEND, name)),
    ]);
  }, 600_000);
  afterAll(async () => {
    await pods?.stopAll();
    await redis?.end('SIGTERM');
    network.close();
    rmSync(folder, { recursive: true });
  });

  async function up(workload: string, pod: string): Promise<void> {
    pods.start(workload, pod);
    for (const kind of ['startupProbe', 'readinessProbe'] as const)
      await vi.waitUntil(() => pods.probe(workload, pod, kind), { timeout: 120_000, interval: 200 });
  }

  /** As `kubectl exec POD -- windjammer …`. */
  async function windjammer(pod: string, ...words: readonly string[]): Promise<string> {
    const { code, text } = await pods.running.get(pod)!.exec(['windjammer', ...words]);
    expect(code, text).toBe(0);
    return text;
  }

  it('answer queries while the Deployment and the StatefulSet are rolled out anew, without one that fails', async () => {
    const [first] = FRONTENDS;
    writeFileSync(join(folder, 'pods', first, 'data/double.mjs'), DOUBLE);
    const app = ['app', 'add', 'double', '--input-type', 'doubles', '--default-output', 'none'];
    await windjammer(first, ...app, '--slo-micros', '10000000');
    const deploy = ['deploy', '/data/double.mjs', '--name', 'double', '--version', '1', '--app', 'double'];
    // One replica alone: it is on a node that is replaced.
    await windjammer(first, ...deploy, '--replicas', '1');
    const addresses = [...FRONTENDS, ...NEXT_FRONTENDS].map((name) => pods.address(name, 1337));
    const balancer = new LoadBalancer(addresses);
    await expect.poll(() => balancer.readyCount).toBe(2);
    const load = new Load(balancer, 'double', 4, (input, output) => output === 2 * input);
    for (const [index, name] of FRONTENDS.entries()) {
      // maxSurge 1, maxUnavailable 0.
      await up(FRONTEND, NEXT_FRONTENDS[index]);
      expect(await pods.stop(name)).toBe(0);
    }
    for (const name of [...NODES].reverse()) {
      expect(await pods.stop(name)).toBe(0);
      await up(NODE, name);
    }
    await load.stop();
    await balancer.stop();
    expect(load.failures).toEqual([]);
    expect(load.answered).toBeGreaterThan(1000);
  });
});
