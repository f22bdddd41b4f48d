import { describe, expect, it } from 'vitest';
import type { Answer, Query } from '../../prediction/index.js';
import { Registry } from '../../registry/index.js';
import { MemoryStore } from '../../store/index.js';
import { Telemetry } from '../index.js';

const query: Query = { id: 'q', application: 'a', input: new Uint8Array(8), context: '' };
const answer: Answer = {
  queryId: 'q',
  output: '1',
  isDefault: false,
  models: [],
  confidence: 1,
  cached: false,
  latencyNs: 3_000_000,
};

async function telemetryWithModel(): Promise<{
  telemetry: Telemetry;
  registry: Registry;
  metrics: () => Promise<string>;
}> {
  const registry = new Registry(new MemoryStore());
  await registry.addApplication({
    name: 'a',
    inputType: 'doubles',
    defaultOutput: '0',
    latencyObjectiveUs: 1000,
    policy: { name: 'static', parameters: {} },
  });
  await registry.addModel({
    name: 'm',
    version: '1',
    inputType: 'doubles',
    labels: [],
    container: { kind: 'constant', output: '1' },
    batching: { strategy: 'aimd' },
  });
  const telemetry = new Telemetry(registry);
  const cache = {
    requests: 10,
    hits: 3,
    joins: 2,
    misses: 5,
    insertions: 5,
    evictions: 1,
    removals: 0,
    refusals: 0,
  };
  telemetry.attach(
    {
      cacheStats: () => ({ ...cache, entries: 4, bytes: 400, limitBytes: 1000, pending: 0 }),
      replicas: () => [
        {
          model: 'm',
          version: '1',
          replica: '0',
          strategy: 'aimd',
          maxBatchSize: 6,
          queued: 2,
          inFlightItems: 4,
          inFlightBatches: 1,
          credits: 1,
          itemNs: undefined,
          batches: 0,
          items: 0,
          busyNs: 0,
          fullItemNs: undefined,
        },
      ],
      selectionShares: () => new Map([['m', 0.75]]),
      inFlight: () => 7,
    },
    () => [{ node: 'node0', dilation: 1.5 }],
  );
  return { telemetry, registry, metrics: async () => (await telemetry.text()).text };
}

const batch = {
  model: 'm',
  version: '1',
  replica: '0',
  size: 5,
  limit: 6,
  newLimit: 7,
  longestQueueNs: 1_000_000,
  totalQueueNs: 2_000_000,
  serviceNs: 40_000,
  roundTripNs: 500_000,
  failed: 2,
  failure: 'kernelFault: pixels: illegalAddress',
};

describe('Telemetry', () => {
  it('counts what became of queries, in seconds and with reasons', async () => {
    const { telemetry, metrics } = await telemetryWithModel();
    telemetry.onAnswer(query, answer);
    telemetry.onAnswer(query, { ...answer, isDefault: true, defaultReason: 'deadline', latencyNs: 1e9 });
    telemetry.onCancel(query);
    telemetry.onRefused('a', 'wrong_length');
    telemetry.onRefused(undefined, 'unknown_application');
    const text = await metrics();
    for (const line of [
      'windjammer_queries_total{application="a",outcome="predicted",reason=""} 1',
      'windjammer_queries_total{application="a",outcome="default",reason="deadline"} 1',
      'windjammer_queries_total{application="a",outcome="cancelled",reason=""} 1',
      'windjammer_query_latency_seconds_bucket{le="0.002",application="a"} 0',
      'windjammer_query_latency_seconds_bucket{le="0.005",application="a"} 1',
      'windjammer_query_latency_seconds_sum{application="a"} 1.003',
      'windjammer_requests_refused_total{application="a",code="wrong_length"} 1',
      'windjammer_requests_refused_total{application="",code="unknown_application"} 1',
    ]) {
      expect(text).toContain(line);
    }
  });

  it('labels batches by model, version and replica', async () => {
    const { telemetry, metrics } = await telemetryWithModel();
    telemetry.onBatch(batch);
    telemetry.onReplicaDown('m', '1', '0');
    const text = await metrics();
    const labels = 'model="m",version="1",replica="0"';
    for (const line of [
      `windjammer_predictions_total{${labels},outcome="ok"} 3`,
      `windjammer_predictions_total{${labels},outcome="failed"} 2`,
      `windjammer_batch_size_sum{${labels}} 5`,
      `windjammer_batch_service_seconds_sum{${labels}} 0.00004`,
      `windjammer_replica_losses_total{${labels}} 1`,
      `windjammer_queue_depth{${labels}} 2`,
      `windjammer_in_flight_inputs{${labels}} 4`,
      `windjammer_batch_limit{${labels}} 6`,
      `windjammer_replica_up{${labels}} 1`,
    ]) {
      expect(text).toContain(line);
    }
  });

  it('reads cache, shares, node pace and process when scraped', async () => {
    const { metrics } = await telemetryWithModel();
    // Twice: scraping must not add up.
    await metrics();
    const text = await metrics();
    for (const line of [
      'windjammer_cache_requests_total 10',
      'windjammer_cache_hits_total 3',
      'windjammer_cache_joins_total 2',
      'windjammer_cache_misses_total 5',
      'windjammer_cache_evictions_total 1',
      'windjammer_cache_bytes 400',
      'windjammer_selection_share{application="a",model="m"} 0.75',
      'windjammer_gpu_node_dilation{node="node0"} 1.5',
      'windjammer_queries_in_flight 7',
      'process_cpu_seconds_total',
    ]) {
      expect(text).toContain(line);
    }
  });

  it('drops the series of what is deleted', async () => {
    const { telemetry, registry, metrics } = await telemetryWithModel();
    telemetry.onAnswer(query, answer);
    telemetry.onRefused('a', 'wrong_length');
    telemetry.onBatch(batch);
    await registry.deleteApplication('a');
    await registry.deleteVersion('m', '1');
    const text = await metrics();
    expect(text).not.toContain('application="a"');
    expect(text).not.toContain('windjammer_batch_size_sum{');
    expect(text).not.toContain('windjammer_predictions_total{');
  });

  it('makes no series for applications that are not registered', async () => {
    const { telemetry, metrics } = await telemetryWithModel();
    for (let i = 0; i < 50; i++) {
      telemetry.onFeedback(
        { application: `random-${i}`, context: '', label: '1' },
        { accepted: false, joined: 'none', durable: true },
      );
    }
    expect(await metrics()).not.toContain('random-');
  });

  it('falls silent when it is closed', async () => {
    const registry = new Registry(new MemoryStore());
    const complaints: string[] = [];
    const telemetry = new Telemetry(registry, (message) => complaints.push(message));
    telemetry.onSinkFailure(query, new Error('x'));
    telemetry.close();
    telemetry.onSinkFailure(query, new Error('x'));
    expect(complaints).toHaveLength(1);
    expect((await telemetry.text()).text.trim()).toBe('');
  });
});
