import { canaryPolicy, trialOf } from '../../selection/index.js';
import { emptyRoom } from '../../containers/runtime/tests/gpuSamples.js';
import { describe, expect, it } from 'vitest';
import type { Answer, Query } from '../prediction/index.js';
import { Registry } from '../registry/index.js';
import { MemoryStore } from '../store/index.js';
import { Telemetry } from './index.js';

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
  const lookups = {
    hits: 3,
    joins: 2,
    misses: 5,
    evictions: 1,
    predicted: 3,
    failed: { model_error: 0, overload: 0, no_replica: 0, expired: 1, invalid_input: 0 },
    abandoned: 1,
  };
  const canary = { model: 'm', candidate: '2', incumbent: '1', number: 1, parameters: {} };
  const trial = trialOf(canaryPolicy.init(['1', '2'], null));
  if (trial === undefined) throw new Error('nothing is tried');
  telemetry.attach(
    {
      cacheStats: () => ({ ...cache, entries: 4, bytes: 400, limitBytes: 1000, pending: 0 }),
      lookups: () => [['m', '1', lookups]],
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
      policyFiles: () => [{ application: 'a', isUp: false, restarts: 2 }],
      contextCounts: () => [
        ['app', { held: 2, heldBytes: 1500, kept: 7, reads: 9, evictions: 5, expired: 3, crowdedOut: 4 }],
      ],
    },
    {
      replicas: () => [
        { model: 'm', version: '1', replica: 0, state: 'up', restarts: 3 },
        { model: 'm', version: '1', replica: 1, state: 'down', restarts: 1 },
      ],
      wanted: () => [['m', '1', 2]],
      canaries: () => [canary],
      trials: () => [{ record: canary, trial, share: 0.2 }],
      nodes: () => [
        {
          node: 'node0',
          replicas: 1,
          busyHostSeconds: 3,
          busySimulatedSeconds: 2,
          dilation: 1.5,
          room: emptyRoom('node0'),
          hostBusyShare: undefined,
          clockLagSeconds: 0.25,
          gpus: [],
          spans: [],
        },
      ],
    },
  );
  const none = () => ({ open: 0, refused: 0 });
  telemetry.watchConnections({
    query: none,
    management: none,
    denials: () => [],
    bodies: () => ({ bytes: 0, limitBytes: 0, refused: 0, evicted: 0 }),
    certificateEndMs: () => undefined,
    webSockets: () => 0,
    inFlight: () => 7,
  });
  return { telemetry, registry, metrics: async () => String((await telemetry.text('prometheus')).bytes) };
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
    telemetry.onRefused('a', 'internal');
    // Counted as answers, or no queries at all.
    telemetry.onRefused('a', 'default_deadline');
    telemetry.onRefused('a', 'unknown_query', 'feedback');
    telemetry.onRefused(undefined, 'unknown_application');
    const text = await metrics();
    for (const line of [
      'windjammer_queries_total{application="a",outcome="predicted",reason=""} 1',
      'windjammer_queries_total{application="a",outcome="default",reason="deadline"} 1',
      'windjammer_queries_total{application="a",outcome="cancelled",reason=""} 1',
      'windjammer_query_latency_seconds_bucket{application="a",le="0.002"} 0',
      'windjammer_query_latency_seconds_bucket{application="a",le="0.005"} 1',
      'windjammer_query_latency_seconds_bucket{application="a",le="+Inf"} 2',
      'windjammer_query_objective_ratio_bucket{application="a",le="2"} 0',
      'windjammer_query_objective_ratio_bucket{application="a",le="4"} 1',
      'windjammer_query_objective_ratio_count{application="a"} 2',
      'windjammer_queries_total{application="a",outcome="rejected",reason="wrong_length"} 1',
      'windjammer_queries_total{application="a",outcome="error",reason="internal"} 1',
      'windjammer_query_latency_seconds_sum{application="a"} 1.003',
      'windjammer_requests_refused_total{application="a",code="wrong_length"} 1',
      'windjammer_requests_refused_total{application="",code="unknown_application"} 1',
    ]) {
      expect(text).toContain(line);
    }
  });

  it('counts models that are asked by their name without an application, and makes no series before', async () => {
    const { telemetry, metrics } = await telemetryWithModel();
    expect(await metrics()).not.toContain('windjammer_queries_total{application=""');
    const vote = { name: 'm', version: '1', cached: false };
    telemetry.onModelCall({ ...vote, output: '1' }, 3e6, 1e9);
    telemetry.onModelCall({ ...vote, output: '1' }, 3e6, 1e9);
    telemetry.onModelCall({ ...vote, missing: 'deadline' }, 1e9, 1e9);
    telemetry.onModelCall(undefined, 1e6, 1e9);
    const text = await metrics();
    expect(text).toContain('windjammer_queries_total{application="",outcome="predicted",reason=""} 2\n');
    expect(text).toContain('windjammer_queries_total{application="",outcome="error",reason="deadline"} 1\n');
    expect(text).toContain('windjammer_queries_total{application="",outcome="cancelled",reason=""} 1\n');
    expect(text).toContain('windjammer_query_latency_seconds_count{application=""} 3\n');
  });

  it('tells what a policy from a file gets wrong, of each kind once for a while', async () => {
    const { telemetry, metrics } = await telemetryWithModel();
    const told: string[] = [];
    telemetry.watchPolicyFiles((application, { kind }) => told.push(`${application} ${kind}`));
    for (const kind of ['late', 'late', 'threw'] as const)
      telemetry.onPolicyFault('a', { kind, message: 'select did' });
    telemetry.onPolicyFallback('a');
    expect(told).toEqual(['a late', 'a threw']);
    const text = await metrics();
    for (const line of [
      'windjammer_policy_file_up{application="a"} 0\n',
      'windjammer_policy_file_restarts_total{application="a"} 2\n',
      'windjammer_policy_file_faults_total{application="a",kind="late"} 2\n',
      'windjammer_policy_file_faults_total{application="a",kind="threw"} 1\n',
      'windjammer_policy_fallbacks_total{application="a"} 1\n',
    ])
      expect(text).toContain(line);
  });

  it('labels batches by model, version and replica', async () => {
    const { telemetry, metrics } = await telemetryWithModel();
    telemetry.onBatch(batch);
    telemetry.onReplicaDown('m', '1', '0');
    telemetry.onRequeued('m', '1', '0', 4);
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
      `windjammer_in_flight_batches{${labels}} 1`,
      `windjammer_replica_credits{${labels}} 1`,
      `windjammer_requeued_inputs_total{${labels}} 4`,
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
      'windjammer_cache_lookups_total{model="m",version="1",result="hit"} 3',
      'windjammer_cache_lookups_total{model="m",version="1",result="join"} 2',
      'windjammer_cache_lookups_total{model="m",version="1",result="miss"} 5',
      'windjammer_evaluations_total{model="m",version="1",outcome="predicted"} 3',
      'windjammer_evaluations_total{model="m",version="1",outcome="expired"} 1',
      'windjammer_evaluations_total{model="m",version="1",outcome="cancelled"} 1',
      'windjammer_cache_evictions_total{model="m",version="1"} 1',
      'windjammer_cache_bytes 400',
      'windjammer_replicas{model="m",version="1",state="up"} 1',
      'windjammer_replicas{model="m",version="1",state="down"} 1',
      'windjammer_replicas{model="m",version="1",state="warming"} 0',
      'windjammer_replicas_wanted{model="m",version="1"} 2',
      'windjammer_canary_share{model="m",version="2"} 0.2',
      'windjammer_canary_state{model="m",version="2",state="ramping"} 1',
      'windjammer_canary_state{model="m",version="2",state="withdrawn"} 0',
      'windjammer_replica_restarts_total{model="m",version="1",replica="0"} 3',
      'windjammer_gpu_node_busy_simulated_seconds_total{node="node0"} 2',
      'windjammer_application_objective_seconds{application="a"} 0.001',
      'windjammer_selection_share{application="a",model="m"} 0.75',
      'windjammer_contexts_held{application="app"} 2',
      'windjammer_context_bytes{application="app"} 1500',
      'windjammer_contexts_kept{application="app"} 7',
      'windjammer_context_reads_total{application="app"} 9',
      'windjammer_context_evictions_total{application="app"} 5',
      'windjammer_contexts_forgotten_total{application="app",reason="expired"} 3',
      'windjammer_contexts_forgotten_total{application="app",reason="crowded_out"} 4',
      'windjammer_gpu_node_dilation{node="node0"} 1.5',
      'windjammer_queries_in_flight 7',
      'process_cpu_seconds_total',
    ]) {
      expect(text).toContain(line);
    }
  });

  it('drops the series of what is deleted, counts nothing that ends after it, and begins anew under the name', async () => {
    const { telemetry, registry, metrics } = await telemetryWithModel();
    const count = () => {
      telemetry.onAnswer(query, answer);
      telemetry.onRefused('a', 'wrong_length');
      telemetry.onLatePrediction('a', 'm', '1');
      telemetry.onBatch(batch);
      telemetry.onReplicaDown('m', '1', '0');
    };
    const application = registry.application('a');
    const model = registry.model('m', '1');
    if (application === undefined || model === undefined) throw new Error('they are registered');
    count();
    await registry.deleteApplication('a');
    await registry.deleteVersion('m', '1');
    for (const late of [false, true]) {
      if (late) count();
      const text = await metrics();
      expect(text).not.toContain('application="a",');
      expect(text).not.toContain('windjammer_batch_size_sum{');
      expect(text).not.toContain('windjammer_predictions_total{');
      expect(text).not.toContain('windjammer_replica_losses_total{');
    }
    await registry.addApplication(application);
    await registry.addModel(model);
    count();
    const text = await metrics();
    expect(text).toContain('windjammer_queries_total{application="a",outcome="predicted",reason=""} 1\n');
    expect(text).toContain('windjammer_batch_size_count{model="m",version="1",replica="0"} 1\n');
  });

  it('makes no series for names that are not registered: 10,000 at random change nothing', async () => {
    const { telemetry, metrics } = await telemetryWithModel();
    const visit = (application: string) => {
      const feedback = { application, context: '', label: '1' };
      telemetry.onFeedback(feedback, { accepted: false, joined: 'none', durable: true });
      telemetry.onAnswer({ ...query, application }, answer);
      telemetry.onCancel({ ...query, application });
      telemetry.onRefused(application, 'wrong_length');
      telemetry.onRefused(undefined, 'unknown_application');
      telemetry.onBatch({ ...batch, model: application });
      telemetry.onBatch({ ...batch, version: application });
    };
    visit('random');
    const series = async () =>
      (await metrics()).split('\n').filter((line) => line.startsWith('windjammer')).length;
    const before = await series();
    for (let i = 0; i < 10_000; i++) visit(`random-${i}`);
    expect(await series()).toBe(before);
    expect(await metrics()).not.toContain('random');
    expect(await metrics()).toContain(
      'windjammer_requests_refused_total{application="",code="unknown_application"} 10001',
    );
  });

  it('keeps replicas that name themselves within bounds', async () => {
    const { telemetry, metrics } = await telemetryWithModel();
    for (let i = 0; i < 2000; i++) telemetry.onBatch({ ...batch, replica: `pod-${i}` });
    const lines = (await metrics())
      .split('\n')
      .filter((line) => line.startsWith('windjammer_batch_size_count'));
    expect(lines).toHaveLength(257);
    const sum = lines.reduce((total, line) => total + Number(line.split(' ')[1]), 0);
    expect(sum).toBe(2000);
    expect(lines.at(-1)).toBe('windjammer_batch_size_count{model="m",version="1",replica="other"} 1744');
  });

  it('lets queries go on between one metric and the next of a scrape', async () => {
    const { metrics } = await telemetryWithModel();
    let turns = 0;
    let ended = false;
    const tick = () => {
      turns += 1;
      if (!ended) setImmediate(tick);
    };
    setImmediate(tick);
    await metrics();
    ended = true;
    expect(turns).toBeGreaterThan(20);
  });

  it('falls silent when it is closed', async () => {
    const registry = new Registry(new MemoryStore());
    const complaints: string[] = [];
    const telemetry = new Telemetry(registry, (message) => complaints.push(message));
    telemetry.onSinkFailure(query, new Error('x'));
    telemetry.close();
    telemetry.onSinkFailure(query, new Error('x'));
    expect(complaints).toHaveLength(1);
    expect(String((await telemetry.text('prometheus')).bytes).trim()).toBe('');
  });
});
