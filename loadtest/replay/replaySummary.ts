import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../simulator/files/index.js';
import type { PredictionEngine } from '../../services/prediction/index.js';
import { Durations, type ApplicationTally, type Timeline, type WindowCounts } from '../measure/index.js';
import type { ReplayContainers } from './replayContainers.js';
import type { ReplayObserver } from './replayObserver.js';
import {
  RESULT_FORMAT,
  type Accuracy,
  type ApplicationResult,
  type ModelResult,
  type QueryCounts,
  type RunResult,
  type WindowResult,
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
    predictionsPerSecond: perSecond(counts.predictions, durationSeconds),
    latency: latencies.summary(),
    accuracy: accuracyOf(sum(tallies, 'labelled'), sum(tallies, 'correct')),
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
    ...countsOf(tally),
    latency: tally.latencies.summary(),
    latencyDistribution: tally.latencies.distribution(),
    accuracy: accuracyOf(tally.labelled, tally.correct),
    feedback: sorted(tally.feedback),
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

function windowResult(window: WindowCounts, fromSeconds: number): WindowResult {
  const { arrivals, answers, defaults, batches, items, latencies, shares } = window;
  return {
    fromSeconds,
    arrivals,
    answers,
    defaults: total(defaults),
    defaultReasons: sorted(defaults),
    batches,
    items,
    p50Ms: latencies?.quantileMs(50) ?? null,
    p99Ms: latencies?.quantileMs(99) ?? null,
    shares: shares ?? null,
  };
}

function countsOf(tally: ApplicationTally): QueryCounts {
  const defaults = total(tally.defaults);
  return {
    arrivals: tally.arrivals,
    answers: tally.answers,
    predictions: tally.answers - defaults,
    cachedAnswers: tally.cachedAnswers,
    defaults,
    defaultReasons: sorted(tally.defaults),
    refusals: sorted(tally.refusals),
  };
}

function together(a: QueryCounts, b: QueryCounts): QueryCounts {
  return {
    arrivals: a.arrivals + b.arrivals,
    answers: a.answers + b.answers,
    predictions: a.predictions + b.predictions,
    cachedAnswers: a.cachedAnswers + b.cachedAnswers,
    defaults: a.defaults + b.defaults,
    defaultReasons: added(a.defaultReasons, b.defaultReasons),
    refusals: added(a.refusals, b.refusals),
  };
}

function added(
  a: Readonly<Record<string, number>>,
  b: Readonly<Record<string, number>>,
): Record<string, number> {
  const all: Record<string, number> = { ...a };
  for (const [key, count] of Object.entries(b)) all[key] = (all[key] ?? 0) + count;
  return sorted(all);
}

/** By name: which came first is no news. */
function sorted<T extends Readonly<Partial<Record<string, number>>>>(counts: T): T {
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1))) as T;
}

function total(counts: Readonly<Partial<Record<string, number>>>): number {
  return Object.values(counts).reduce<number>((all, count) => all + (count ?? 0), 0);
}

function sum(tallies: readonly ApplicationTally[], field: 'labelled' | 'correct'): number {
  return tallies.reduce((all, tally) => all + tally[field], 0);
}

function accuracyOf(labelled: number, correct: number): Accuracy | null {
  return labelled === 0 ? null : { labelled, correct, share: correct / labelled };
}

function perSecond(count: number, seconds: number): number {
  return seconds > 0 ? count / seconds : 0;
}

function productVersion(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
