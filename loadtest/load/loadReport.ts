import { Durations, type DurationSummary } from '../measure/index.js';
import {
  countsOf,
  accuracyOf,
  applicationCounts,
  perSecond,
  productVersion,
  RESULT_FORMAT,
  together,
  windowResult,
  type ApplicationResult,
  type ModelResult,
  type NodeResult,
  type RunResult,
  type ServerPart,
} from '../result/index.js';
import type { LoadCounts } from './loadCounts.js';
import type { LoadPlan } from './loadPlan.js';
import type { MetricsChange } from './server/index.js';
import type { ServerWatch } from './serverWatch.js';

/** A load that has ended. */
export interface EndedLoad {
  readonly plan: LoadPlan;
  readonly counts: LoadCounts;
  /** By `wallNs`. */
  readonly startNs: number;
  readonly watch: ServerWatch | undefined;
  /** undefined: the server's metrics could not be read. */
  readonly change: MetricsChange | undefined;
}

/** What came of a load, in the form that a replay's result has. */
export function loadResult({ plan, counts, startNs, watch, change }: EndedLoad): RunResult {
  const tallies = [...counts.tallies.values()];
  const all = tallies.map(countsOf).reduce(together);
  const latencies = new Durations();
  for (const tally of tallies) latencies.add(tally.latencies);
  const isOpen = plan.trace !== undefined;
  const { timeline } = counts;
  const durationSeconds =
    isOpen && counts.endedEarly === null ? (plan.seconds ?? counts.endNs / 1e9) : counts.endNs / 1e9;
  const { share, delayMs } = plan.feedback;
  const models = change === undefined ? [] : modelResults(plan, counts, change);
  return {
    format: RESULT_FORMAT,
    kind: 'loadtest',
    times: 'wall',
    endedEarly: counts.endedEarly,
    windjammer: productVersion(),
    node: process.version,
    seed: plan.seed,
    trace: plan.trace?.spec ?? 'closed loop',
    scale: plan.trace?.scale ?? 1,
    durationSeconds,
    drainSeconds: Math.max(0, counts.drainedNs / 1e9 - durationSeconds),
    loadingSeconds: 0,
    ...all,
    offeredPerSecond: perSecond(all.arrivals, durationSeconds),
    predictionsPerSecond: perSecond(all.predictions, durationSeconds),
    goodputPerSecond: perSecond(all.inTime, durationSeconds),
    latency: latencies.summary(),
    accuracy: accuracyOf(tallies),
    feedback: { share, delayMs, given: counts.judgements },
    cache: change === undefined ? null : cacheOf(change),
    applications: plan.applications.map((asked): ApplicationResult => {
      const tally = counts.tallies.get(asked.name);
      if (tally === undefined) throw new Error(`application '${asked.name}' was not counted`);
      return {
        name: asked.name,
        objectiveMs: asked.objectiveMs,
        policy: null,
        models: asked.models,
        inputs: plan.inputs ?? '',
        ...applicationCounts(tally),
        selectionShares: sharesOf(asked.name, change),
      };
    }),
    models,
    gpuNodes: change === undefined ? [] : nodesOf(change),
    load: {
      url: plan.url,
      mode: plan.mode,
      loop: isOpen ? 'open' : 'closed',
      connections: plan.connections * plan.processes,
      processes: plan.processes,
      lateness: isOpen ? counts.lateness.summary() : null,
      lateLimitMs: isOpen ? (plan.lateLimitMs ?? null) : null,
      unanswered: counts.unanswered,
    },
    serverParts: change === undefined ? [] : partsOf(plan, models, change),
    windowSeconds: timeline.widthNs / 1e9,
    windows: timeline.windows.map((window, at) => {
      const fromNs = at * timeline.widthNs;
      const seen = watch?.between(startNs + fromNs, startNs + fromNs + timeline.widthNs);
      return { ...windowResult(window, fromNs / 1e9), ...(seen ?? { batches: 0, items: 0, shares: null }) };
    }),
  };
}

function sharesOf(application: string, change: MetricsChange | undefined): Record<string, number> {
  const name = 'windjammer_selection_share';
  const models = change?.valuesOf(name, 'model', { application }) ?? [];
  return Object.fromEntries(models.map((model) => [model, change?.value(name, { application, model }) ?? 0]));
}

/** Of the models that got batches, or have a part in the applications that were asked. */
function modelResults(plan: LoadPlan, counts: LoadCounts, change: MetricsChange): ModelResult[] {
  const linked = new Set(
    plan.applications.flatMap(({ models, name }) => (plan.mode === 'v2' ? [...models, name] : models)),
  );
  return change
    .valuesOf('windjammer_batch_size_count', 'model')
    .filter((model) => linked.has(model))
    .map((name) => modelResult(name, counts, change));
}

function modelResult(name: string, counts: LoadCounts, change: MetricsChange): ModelResult {
  const model = { model: name };
  const batches = change.counted('windjammer_batch_size_count', model);
  const items = change.counted('windjammer_batch_size_sum', model);
  const sizes = change.sizes('windjammer_batch_size', model);
  const answersIn = (of: Readonly<Partial<Record<string, number>>>): number =>
    Object.entries(of).reduce((sum, [key, count]) => sum + (key.endsWith(`/${name}`) ? (count ?? 0) : 0), 0);
  const replicas = change.valuesOf('windjammer_replica_up', 'replica', model);
  return {
    name,
    version: change.valuesOf('windjammer_batch_size_count', 'version', model).join(', '),
    container: 'of the server',
    replicas: replicas.length,
    lostReplicas: replicas.filter(
      (replica) => change.counted('windjammer_replica_losses_total', { ...model, replica }) > 0,
    ),
    answers: answersIn(counts.modelAnswers),
    cachedAnswers: answersIn(counts.cachedModelAnswers),
    latePredictions: change.counted('windjammer_late_predictions_total', model),
    batches,
    items,
    failedItems: change.counted('windjammer_predictions_total', { ...model, outcome: 'failed' }),
    meanBatchSize: batches === 0 ? null : items / batches,
    largestBatch: sizes.at(-1)?.to ?? 0,
    batchLimits: replicas.map((replica) => change.value('windjammer_batch_limit', { ...model, replica })),
    batchSizes: sizes,
    service: change.durations('windjammer_batch_service_seconds', model),
    queueing: change.durations('windjammer_batch_queue_seconds', model),
  };
}

function cacheOf(change: MetricsChange): RunResult['cache'] {
  const lookups = (result: string): number => change.counted('windjammer_cache_lookups_total', { result });
  return {
    hits: lookups('hit'),
    joins: lookups('join'),
    misses: lookups('miss'),
    evictions: change.counted('windjammer_cache_evictions_total'),
    entries: change.value('windjammer_cache_entries'),
    bytes: change.value('windjammer_cache_bytes'),
    limitBytes: change.value('windjammer_cache_limit_bytes'),
  };
}

function nodesOf(change: MetricsChange): NodeResult[] {
  const busy = 'windjammer_gpu_node_busy_simulated_seconds_total';
  return change.valuesOf(busy, 'node').map((node) => {
    const gpus = change.valuesOf('windjammer_gpu_replicas', 'gpu', { node });
    return {
      name: node,
      gpus: gpus.map(
        (gpu) => change.valuesOf('DCGM_FI_DEV_GPU_UTIL', 'modelName', { node, gpu }).join(', ') || gpu,
      ),
      replicas: gpus.map((gpu) => change.value('windjammer_gpu_replicas', { node, gpu })),
      busySeconds: change.counted(busy, { node }),
    };
  });
}

/** From a query's acceptance to its answer, and of its batches. */
function partsOf(plan: LoadPlan, models: readonly ModelResult[], change: MetricsChange): ServerPart[] {
  const part = (name: string, times: DurationSummary | null): ServerPart[] =>
    times === null ? [] : [{ name, times }];
  return [
    ...plan.applications.flatMap(({ name: application }) =>
      part(
        `${application}: from acceptance to answer`,
        change.durations('windjammer_query_latency_seconds', { application }),
      ),
    ),
    ...models.flatMap(({ name: model }) => [
      ...part(
        `${model}: a batch's round trip`,
        change.durations('windjammer_batch_round_trip_seconds', { model }),
      ),
    ]),
  ];
}
