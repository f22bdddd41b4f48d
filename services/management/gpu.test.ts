import { describe, expect, it } from 'vitest';
import { emptyRoom, gpuSample } from '../../containers/runtime/tests/gpuSamples.js';
import type { NodeReport } from '../../containers/runtime/index.js';
import { ServiceError } from '../errors/index.js';
import type { ReplicaStatus } from '../prediction/index.js';
import type { GpuAnswer } from './index.js';
import { eachWithServer, verbsOf } from './tests/harness.js';

function report(node: string, gpus: number): NodeReport {
  return {
    node,
    replicas: 1,
    busyHostSeconds: 3,
    busySimulatedSeconds: 1,
    dilation: 3,
    room: emptyRoom(node, gpus),
    hostBusyShare: 0.25,
    clockLagSeconds: 0.5,
    gpus: [],
    spans: Array.from({ length: gpus }, (_, gpu) => ({
      latest: gpuSample(3e9, { gpu }),
      earlier: gpuSample(2e9, { gpu }),
    })),
  };
}

const queue = { model: 'm', version: '1', replica: '0', queued: 7, inFlightItems: 2 } as ReplicaStatus;

describe('GPUs over the management interface', () => {
  const harness = eachWithServer();
  const { post, refused } = verbsOf(harness);

  it('are shown with what they do and who uses them, numbered through all nodes', async () => {
    harness().nodes = [report('node0', 2), report('node1', 1)];
    harness().queues = [queue];
    const gpus = (await post('get_gpus', {})).json as readonly GpuAnswer[];
    expect(gpus.map(({ node, index }) => [node, index])).toEqual([
      ['node0', 0],
      ['node0', 1],
      ['node1', 2],
    ]);
    expect(new Set(gpus.map(({ uuid }) => uuid)).size).toBe(3);
    const [first] = gpus;
    expect(first).toMatchObject({
      name: 'NVIDIA H200',
      profile: 'h200',
      is_measured: true,
      dilation: 3,
      host_busy: 0.25,
      simulated_seconds: 1,
      launches: 2,
      power: { draw_watts: 250, limit_watts: 700, energy_joules: 750, throttle: 'none' },
    });
    expect(first.utilization.gpu).toBeCloseTo(0.75);
    expect(first.utilization.memory).toBeCloseTo(0.5);
    expect(first.contexts).toHaveLength(2);
    expect(first.contexts[1]).toMatchObject({
      model_name: 'm',
      model_version: '1',
      replica_id: '0',
      queued_inputs: 7,
      in_flight_inputs: 2,
    });
    expect(first.contexts[0]).not.toHaveProperty('model_name');
    const shares = first.contexts.reduce((sum, context) => sum + context.sm_share, 0);
    expect(shares).toBeCloseTo(first.utilization.sm_active);
  });

  it('are none before the first sample', async () => {
    harness().nodes = [report('node0', 0)];
    expect((await post('get_gpus', {})).json).toEqual([]);
    await refused('get_gpus', { gpu: 0 }, 'unknown_field', 'gpu');
  });

  it('record a timeline, answered as it is', async () => {
    const asked: unknown[] = [];
    harness().recordTimeline = (request) => {
      asked.push(request);
      return Promise.resolve('{"traceEvents":[],"droppedEvents":0}\n');
    };
    const { status, text, json } = await post('record_gpu_timeline', { seconds: 0.5, max_mib: 1 });
    expect(status).toBe(200);
    expect(text).toBe('{"traceEvents":[],"droppedEvents":0}\n');
    expect(json).toEqual({ traceEvents: [], droppedEvents: 0 });
    await post('record_gpu_timeline', { node: 'node1' });
    expect(asked).toMatchObject([
      { node: undefined, seconds: 0.5, limit: 2 ** 20 },
      { node: 'node1', seconds: 5, limit: 16 * 2 ** 20 },
    ]);
  });

  it('end a recording when whoever asked is gone', async () => {
    const gone = new Promise<void>((resolve) => {
      harness().recordTimeline = (request) =>
        new Promise((answer) => {
          request.gone.addEventListener('abort', () => {
            resolve();
            answer('{}');
          });
          leave.abort();
        });
    });
    const leave = new AbortController();
    const asked = fetch(`${harness().url}/admin/record_gpu_timeline`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
      signal: leave.signal,
    });
    await expect(asked).rejects.toThrow();
    await gone;
  });

  it('say what is wrong with what is asked of them', async () => {
    await refused('record_gpu_timeline', { seconds: 61 }, 'invalid_value', 'seconds');
    await refused('record_gpu_timeline', { seconds: 0 }, 'invalid_value', 'seconds');
    await refused('record_gpu_timeline', { seconds: 'long' }, 'wrong_type', 'seconds');
    await refused('record_gpu_timeline', { max_mib: 65 }, 'invalid_value', 'max_mib');
    for (const code of ['unknown_node', 'recording', 'node_down'] as const) {
      harness().recordTimeline = () => Promise.reject(new ServiceError(code, 'no'));
      await refused('record_gpu_timeline', {}, code);
    }
  });
});
