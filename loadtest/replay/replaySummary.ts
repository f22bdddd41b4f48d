import type { PredictionEngine } from '../../services/prediction/index.js';
import { Durations, type Timeline } from '../measure/index.js';
import type { ReplayContainers } from './replayContainers.js';
import type { ReplayObserver } from './replayObserver.js';
import {
  accuracyOf,
  applicationCounts,
  countsOf,
  perSecond,
  productVersion,
  RESULT_FORMAT,
  together,
  windowResult,
  type ApplicationResult,
  type ModelResult,
  type RunResult,
} from '../result/index.js';
import { SYNTHETIC_CONTAINER } from './replayConfig.js';
import type { ReplayedApplication, ReplayedModel, ReplaySettings } from './replaySettings.js';
import { sharesOf, type ReplayTraffic } from './replayTraffic.js';

/** A run that has ended. */
interface EndedRun {
  readonly settings: ReplaySettings;
  readonly engine: PredictionEngine;
  readonly observer: ReplayObserver;
  readonly traffic: ReplayTraffic;
  readonly timeline: Timeline;
  readonly containers: ReplayContainers;
  readonly endNs: number;
}

export function resultOf(run: EndedRun): RunResult {
  const { settings, engine, traffic, timeline, containers } = run;
  const tallies = [...traffic.tallies.values()];
  const counts = tallies.map(countsOf).reduce(together);
  const latencies = new Durations();
  for (const tally of tallies) latencies.add(tally.latencies);
  const durationSeconds = traffic.endNs / 1e9;
  return {
    format: RESULT_FORMAT,
    kind: 'replay',
    times: settings.hostTimes === undefined ? 'simulated' : 'host',
    endedEarly: null,
    windjammer: productVersion(),
    node: process.version,
    seed: settings.seed,
    trace: settings.trace.name,
    scale: settings.scale,
    durationSeconds,
    drainSeconds: Math.max(0, (run.endNs - traffic.startNs - traffic.endNs) / 1e9),
    loadingSeconds: traffic.startNs / 1e9,
    ...counts,
    offeredPerSecond: perSecond(counts.arrivals, durationSeconds),
    goodputPerSecond: perSecond(counts.inTime, durationSeconds),
    predictionsPerSecond: perSecond(counts.predictions, durationSeconds),
    latency: latencies.summary(),
    accuracy: accuracyOf(tallies),
    feedback: { ...settings.feedback, given: traffic.judgements },
    cache: engine.cacheStats(),
    applications: settings.applications.map((application) => applicationResult(application, run)),
    models: settings.models.map((model) => modelResult(model, run)),
    gpuNodes: containers.reports().map(({ node, room, busySimulatedSeconds }) => ({
      name: node,
      gpus: room.gpus.map(({ card }) => card),
      replicas: room.gpus.map(({ replicas }) => replicas),
      busySeconds: busySimulatedSeconds,
    })),
    load: null,
    serverParts: [],
    windowSeconds: timeline.widthNs / 1e9,
    windows: timeline.windows.map((window, at) => windowResult(window, (at * timeline.widthNs) / 1e9)),
  };
}

function applicationResult(
  { record, models, inputs }: ReplayedApplication,
  run: EndedRun,
): ApplicationResult {
  const tally = run.traffic.tallies.get(record.name);
  if (tally === undefined) throw new Error(`application '${record.name}' was not replayed`);
  return {
    name: record.name,
    objectiveMs: record.latencyObjectiveUs / 1000,
    policy: record.policy,
    models,
    inputs: inputs.source,
    ...applicationCounts(tally),
    selectionShares: sharesOf(run.engine, record.name),
  };
}

function modelResult({ record, replicas, synthetic }: ReplayedModel, run: EndedRun): ModelResult {
  const { name, version, container } = record;
  const tally = run.observer.models.get(name);
  if (tally === undefined) throw new Error(`model '${name}' was not replayed`);
  return {
    name,
    version,
    container: synthetic === undefined ? container.kind : SYNTHETIC_CONTAINER,
    replicas,
    lostReplicas: run.observer.lost.get(name) ?? [],
    answers: tally.answers,
    cachedAnswers: tally.cachedAnswers,
    latePredictions: tally.late,
    batches: tally.batches,
    items: tally.items,
    failedItems: tally.failedItems,
    meanBatchSize: tally.batches === 0 ? null : tally.items / tally.batches,
    largestBatch: tally.largestBatch,
    batchLimits: run.engine
      .replicas()
      .filter((status) => status.model === name)
      .map(({ maxBatchSize }) => maxBatchSize),
    batchSizes: tally.sizes.list(),
    service: tally.service.summary(),
    queueing: tally.queueing.summary(),
  };
}
