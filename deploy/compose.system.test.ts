import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ComposeProject } from './tests/composeProject.js';
import { ContainerNetwork } from './tests/containerNetwork.js';
import { buildImage } from './tests/dockerImage.js';
import { Load, LoadBalancer } from './tests/loadBalancer.js';
import { MAY_ISOLATE } from './tests/mayIsolate.js';

const FRONTENDS = ['frontend-1', 'frontend-2'] as const;
const NODES = ['node-1', 'node-2'] as const;

const DOUBLE = `export default { inputType: 'doubles', inputLength: 1, predictOne: ([x]) => 2 * x };`;

interface ClusterStatus {
  readonly frontends: readonly { readonly alive: boolean; readonly placing: boolean }[];
  readonly nodes: readonly {
    readonly name: string;
    readonly replicas: number;
    readonly connected: boolean;
  }[];
}

describe.runIf(MAY_ISOLATE)('deploy/compose.yaml, its services started as processes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'windjammer-compose-'));
  let network: ContainerNetwork;
  let project: ComposeProject;
  /** In place of the collector, which Debian does not have: what traces reach it. */
  let collector: Server;
  let traces = 0;

  beforeAll(async () => {
    network = new ContainerNetwork();
    const image = await buildImage(join(folder, 'image'));
    collector = createServer((request, response) => {
      if (request.url === '/v1/traces') traces += 1;
      request.resume().on('end', () => response.end('{}'));
    }).listen(4318, network.gateway);
    // Nor does it have Grafana.
    const hosts = { collector: network.gateway, grafana: network.gateway };
    project = new ComposeProject(folder, image, network, hosts);
    for (const secret of ['redis-password', 'cluster-key', 'grafana-password'])
      project.writeSecret(secret, `${randomBytes(32).toString('hex')}\n`);
    await up('redis');
    await Promise.all([...NODES, ...FRONTENDS].map(up));
  }, 600_000);
  afterAll(async () => {
    await project?.stopAll();
    collector?.close();
    network.close();
    rmSync(folder, { recursive: true });
  });

  async function up(name: string): Promise<void> {
    project.start(name);
    await vi.waitUntil(() => project.isHealthy(name), { timeout: 120_000, interval: 200 });
  }

  /** As `docker compose exec NAME windjammer …`. */
  async function windjammer(name: string, ...words: readonly string[]): Promise<string> {
    const { code, text } = await project.running.get(name)!.exec(['windjammer', ...words]);
    expect(code, text).toBe(0);
    return text;
  }

  async function status(name: string): Promise<ClusterStatus> {
    return JSON.parse(await windjammer(name, 'cluster', 'status', '--json')) as ClusterStatus;
  }

  /** An application and its model, both of that name. */
  async function deployDouble(name: string, replicas: number): Promise<void> {
    writeFileSync(join(folder, 'volumes/frontend-1', `${name}.mjs`), DOUBLE);
    const app = ['app', 'add', name, '--input-type', 'doubles', '--default-output', 'none'];
    await windjammer('frontend-1', ...app, '--slo-micros', '10000000');
    const model = ['deploy', `/data/${name}.mjs`, '--name', name, '--version', '1', '--app', name];
    await windjammer('frontend-1', ...model, '--replicas', String(replicas));
  }

  const replicasOf = async (name: string) => (await status(name)).nodes.map(({ replicas }) => replicas);

  it('runs a model that is deployed at one frontend on the nodes, and answers by it at both', async () => {
    await deployDouble('double', 2);
    const balancer = new LoadBalancer(FRONTENDS.map((name) => project.address(name, 1337)));
    await expect.poll(() => balancer.readyCount).toBe(2);
    for (const number of [1, 2, 3, 4])
      expect(await balancer.client().predict('double', [number])).toMatchObject({
        output: 2 * number,
        isDefault: false,
      });
    await balancer.stop();
    expect(await replicasOf('frontend-2')).toEqual([1, 1]);
  });

  it('is scraped by Prometheus as it is configured there', async () => {
    await up('prometheus');
    const prometheus = `http://${project.address('prometheus', 9090)}`;
    const query = async (text: string): Promise<unknown> => {
      const answer = await fetch(`${prometheus}/api/v1/query?query=${encodeURIComponent(text)}`);
      const { data } = (await answer.json()) as {
        readonly data: { readonly result: readonly { readonly value: readonly unknown[] }[] };
      };
      return data.result.map(({ value }) => value[1]);
    };
    const answered = 'sum(windjammer_queries_total{application="double", outcome="predicted"})';
    await expect.poll(() => query('up{job="windjammer"}'), { timeout: 60_000 }).toEqual(['1', '1']);
    await expect.poll(() => query(answered), { timeout: 60_000 }).toEqual(['4']);
    expect(await project.stop('prometheus')).toBe(0);
  });

  it('restarts frontends and nodes one after the other, under load, without a query that fails', async () => {
    const balancer = new LoadBalancer(FRONTENDS.map((name) => project.address(name, 1337)));
    await expect.poll(() => balancer.readyCount).toBe(2);
    // Of one replica alone: it is on a node that is restarted.
    await deployDouble('single', 1);
    const loads = ['double', 'single'].map(
      (name) => new Load(balancer, name, 3, (input, output) => output === 2 * input),
    );
    const restart = async (name: string): Promise<void> => {
      expect(await project.stop(name), name).toBe(0);
      await up(name);
    };
    for (const name of FRONTENDS) {
      await restart(name);
      await expect.poll(() => balancer.readyCount, { timeout: 30_000 }).toBe(2);
    }
    for (const name of NODES) {
      await restart(name);
      await expect
        .poll(() => replicasOf('frontend-1'), { timeout: 60_000, interval: 500 })
        .toEqual(expect.not.arrayContaining([0]));
    }
    await Promise.all(loads.map((load) => load.stop()));
    await balancer.stop();
    for (const load of loads) {
      expect(load.failures).toEqual([]);
      expect(load.answered).toBeGreaterThan(1000);
    }
  });

  it('keeps what was registered when all of it is stopped and started again', async () => {
    await Promise.all(
      [...FRONTENDS, ...NODES].map(async (name) => expect(await project.stop(name), name).toBe(0)),
    );
    expect(await project.stop('redis')).toBe(0);
    await up('redis');
    await Promise.all([...NODES, ...FRONTENDS].map(up));
    expect(await windjammer('frontend-2', 'app', 'list')).toContain('double');
    await expect
      .poll(() => replicasOf('frontend-2'), { timeout: 60_000, interval: 500 })
      .toEqual(expect.not.arrayContaining([0]));
  });

  it('sends traces to the collector', () => {
    expect(traces).toBeGreaterThan(0);
  });
});
