import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { builtInModelPath, digitAt, loadDigits } from '../../containers/models/index.js';
import { WindjammerClient } from '../client/index.js';
import type { EmbeddedServer } from '../main.js';
import { startEmbedded } from './embeddedServer.js';

let directory: string;
let server: EmbeddedServer | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'windjammer-gpus-'));
});
afterEach(async () => {
  await stop();
  rmSync(directory, { recursive: true });
});

async function stop(): Promise<void> {
  await server?.stop({ noticeMs: 0, graceMs: 100 });
  server = undefined;
}

async function serve(gpus: readonly string[], nodes: number): Promise<WindjammerClient> {
  server = await startEmbedded({ dataDirectory: directory, gpus, nodes });
  return new WindjammerClient({
    queryUrl: `http://127.0.0.1:${server.queryAddress.port}`,
    managementUrl: `http://127.0.0.1:${server.managementAddress.port}`,
  });
}

const digits = (name: string, more: object = {}) => ({
  model_name: name,
  model_version: '1',
  input_type: 'floats' as const,
  container_name: 'windjammer/kernel-model',
  model_data_path: builtInModelPath('digits-logistic'),
  ...more,
});

const LIMITS = { timeout: 120_000 };
const WAIT = { timeout: 60_000, interval: 50 };

it('spreads replicas over the GPUs of all nodes, and shows all of them', LIMITS, async () => {
  const { management, ...client } = await clientOf(['h200', 'a100'], 2);
  await management.addModel(digits('spread', { num_replicas: 4 }));
  await management.addModel(digits('pinned', { gpu: 'node1/1', num_replicas: 2 }));
  const placed = async (): Promise<Record<string, string[]>> => {
    const found: Record<string, string[]> = {};
    for (const { model_name: model, gpu, state } of await management.containers()) {
      (found[model] ??= []).push(`${state} ${gpu ?? ''}`);
    }
    return found;
  };
  await vi.waitFor(
    async () =>
      expect(await placed()).toEqual({
        spread: ['up node0/0', 'up node0/1', 'up node1/0', 'up node1/1'],
        pinned: ['up node1/1', 'up node1/1'],
      }),
    WAIT,
  );
  await management.addApplication({
    name: 'a',
    input_type: 'floats',
    default_output: '-1',
    latency_slo_micros: 5_000_000,
  });
  await management.addLinks('a', ['spread']);
  const { heldOut } = loadDigits();
  const asked = Array.from({ length: 64 }, (_, at) => client.ask([...digitAt(heldOut, at)]));
  expect((await Promise.all(asked)).filter(({ isDefault }) => isDefault)).toEqual([]);
  await vi.waitFor(async () => {
    const gpus = await management.gpus();
    expect(gpus.map(({ index, gpu, profile, contexts }) => [index, gpu, profile, contexts.length])).toEqual([
      [0, 'node0/0', 'h200', 1],
      [1, 'node0/1', 'a100', 1],
      [2, 'node1/0', 'h200', 1],
      [3, 'node1/1', 'a100', 3],
    ]);
    // What was held for its replicas is what they have taken.
    for (const { memory } of gpus) {
      expect(memory.used_bytes).toBe(memory.reserved_bytes);
      expect(memory.free_bytes).toBe(memory.total_bytes - memory.used_bytes);
    }
  }, WAIT);
  const metrics = await client.metrics();
  expect(metrics).toContain('windjammer_gpu_replicas{gpu="3",node="node1"} 3');
  expect(metrics).toContain('windjammer_gpu_node_replicas{node="node0"} 2');
  const trace = await management.recordGpuTimeline({ node: 'node1', seconds: 0.1 });
  expect(JSON.stringify(trace)).toContain('node1');
  await management.deleteModel('pinned', '1');
  await vi.waitFor(
    async () => expect(await client.metrics()).toContain('windjammer_gpu_replicas{gpu="3",node="node1"} 1'),
    WAIT,
  );
});

it(
  'keeps replicas without a place waiting after a start with fewer GPUs, until there is one',
  LIMITS,
  async () => {
    const before = await clientOf(['8800gtx'], 2);
    await before.management.addModel(digits('a', { gpu: 'node1/0' }));
    await before.management.addModel(digits('b', { gpu: 'node0/0' }));
    const refusal = before.management.addModel(digits('c', { num_replicas: 64, gpu: 'node1/0' }));
    await expect(refusal).rejects.toMatchObject({ status: 409, code: 'insufficient_gpu_memory' });
    await expect(refusal).rejects.toThrow(
      /and \d\d of them fit: .* node1\/0 \(8800gtx\): \d+ of its 805306368 bytes/,
    );
    const up = async (name: string, management: WindjammerClient['management']): Promise<void> =>
      vi.waitFor(
        async () =>
          expect(
            (await management.containers()).filter(({ model_name: model }) => model === name),
          ).toMatchObject([{ state: 'up' }]),
        WAIT,
      );
    await up('a', before.management);
    await up('b', before.management);
    await stop();
    const { management } = await clientOf(['8800gtx'], 1);
    await up('b', management);
    const waiting = async () => (await management.containers()).find(({ model_name: name }) => name === 'a');
    expect(await waiting()).toMatchObject({
      state: 'down',
      restarts: 0,
      last_failure: "it is pinned to GPU 'node1/0', which is not there: there are node0/0",
    });
    await expect(
      management.setReplicas({ model_name: 'a', model_version: '1', num_replicas: 2 }),
    ).rejects.toMatchObject({ code: 'insufficient_gpu_memory' });
    await management.setReplicas({ model_name: 'b', model_version: '1', num_replicas: 2 });
    expect(await waiting()).toMatchObject({ state: 'down', restarts: 0 });
    await stop();
    await up('a', (await clientOf(['8800gtx'], 2)).management);
  },
);

interface Asking {
  readonly management: WindjammerClient['management'];
  readonly ask: (input: readonly number[]) => Promise<{ readonly isDefault: boolean }>;
  readonly metrics: () => Promise<string>;
}

async function clientOf(gpus: readonly string[], nodes: number): Promise<Asking> {
  const client = await serve(gpus, nodes);
  const port = server?.queryAddress.port ?? 0;
  return {
    management: client.management,
    ask: async (input) => {
      const { default: isDefault } = (await (
        await fetch(`http://127.0.0.1:${port}/a/predict`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ input }),
        })
      ).json()) as { default: boolean };
      return { isDefault };
    },
    metrics: async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text(),
  };
}
