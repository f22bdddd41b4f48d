import type { ContainerChannel } from '../../containers/protocol/index.js';
import { VirtualClock } from '../../simulator/time/index.js';
import { PredictionEngine, SilentObserver, type BatchRecord } from '../../services/prediction/index.js';
import type { BatchingChoice, ModelRecord } from '../../services/registry/index.js';
import { MemoryStore } from '../../services/store/index.js';
import { AnswerWindows, type Window } from '../report/index.js';
import { FixedRegistry } from './fixedRegistry.js';
import { PoissonLoad } from './poissonLoad.js';

const APPLICATION = 'digits';

/** Open-loop Poisson arrivals from a moment on, inputs all different. */
export interface Stage {
  readonly fromSeconds: number;
  readonly queriesPerSecond: number;
}

/** What serves the load. */
export interface ExperimentModel {
  /** Without its batching, which is what runs differ in. */
  readonly record: Omit<ModelRecord, 'batching'>;
  /** One replica, on the run's clock. */
  replica(clock: VirtualClock): ContainerChannel;
  /** The input of the query of this number, unlike all others. */
  input(number: number): Uint8Array;
}

export interface AimdSettings {
  readonly seed: number;
  readonly durationSeconds: number;
  readonly windowSeconds: number;
  readonly objectiveMs: number;
  /** In order of time. */
  readonly stages: readonly Stage[];
  /** The start of each stage that its figures leave out, for the controller to adapt. */
  readonly adaptationSeconds: number;
}

export interface BatchWindow {
  readonly atSeconds: number;
  readonly batches: number;
  readonly meanSize: number;
  /** The controller's limit at the window's end. */
  readonly limit: number;
}

/** What one stage came to, once adapted. */
export interface StageResult {
  readonly queriesPerSecond: number;
  readonly answersInTimePerSecond: number;
  /** Items that the model computed, late ones too. */
  readonly modelItemsPerSecond: number;
  readonly defaultShare: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly meanBatchSize: number;
}

export interface StrategyRun {
  readonly strategy: string;
  readonly windows: readonly Window[];
  readonly batches: readonly BatchWindow[];
  readonly stages: readonly StageResult[];
  readonly longestLatencyMs: number;
  readonly queries: number;
}

/** Told of each batch when it is answered. */
export type BatchTap = (record: BatchRecord, nowNs: number) => void;

/** Batches by the window in which they were answered. */
class BatchWindows extends SilentObserver {
  readonly windows: { batches: number; items: number; limit: number }[] = [];

  constructor(
    private readonly clock: VirtualClock,
    private readonly windowNs: number,
    private readonly tap: BatchTap,
  ) {
    super();
  }

  override onBatch(record: BatchRecord): void {
    const at = Math.floor(this.clock.nowNs() / this.windowNs);
    while (this.windows.length <= at) {
      this.windows.push({ batches: 0, items: 0, limit: this.windows.at(-1)?.limit ?? 1 });
    }
    const window = this.windows[at];
    window.batches += 1;
    window.items += record.size;
    window.limit = record.newLimit;
    this.tap(record, this.clock.nowNs());
  }

  list(): BatchWindow[] {
    return this.windows.map(({ batches, items, limit }, at) => ({
      atSeconds: ((at + 0.5) * this.windowNs) / 1e9,
      batches,
      meanSize: batches === 0 ? 0 : items / batches,
      limit,
    }));
  }
}

/** One run in virtual time, repeatable bit for bit. */
export function runStrategy(
  settings: AimdSettings,
  model: ExperimentModel,
  batching: BatchingChoice,
  tap: BatchTap = () => undefined,
): StrategyRun {
  const clock = new VirtualClock();
  const windowNs = settings.windowSeconds * 1e9;
  const durationNs = settings.durationSeconds * 1e9;
  const batchWindows = new BatchWindows(clock, windowNs, tap);
  const windows = new AnswerWindows(windowNs);
  const stages = settings.stages.map((stage) => ({ stage, answers: new AnswerWindows(Infinity) }));
  let longestNs = 0;
  let queries = 0;
  const engine = new PredictionEngine({
    clock,
    registry: registryFor(settings, { ...model.record, batching }),
    store: new MemoryStore(),
    seed: settings.seed,
    observer: batchWindows,
  });
  engine.addReplica(model.replica(clock));
  const sink = {
    onAnswer: (_query: unknown, answer: { latencyNs: number; isDefault: boolean }) => {
      const nowNs = clock.nowNs();
      windows.record(nowNs, answer.latencyNs, answer.isDefault);
      const at = settledStage(settings, nowNs / 1e9);
      if (at >= 0) stages[at].answers.record(0, answer.latencyNs, answer.isDefault);
      if (answer.latencyNs > longestNs) longestNs = answer.latencyNs;
    },
    onRefusal: (_query: unknown, refusal: { message: string }) => {
      throw new Error(refusal.message);
    },
  };
  const arrive = (): void => {
    const number = queries++;
    const query = { id: `${number}`, application: APPLICATION, context: '', input: model.input(number) };
    engine.predict(query, sink);
  };
  // Poisson streams add up: each stage adds what it has more than the one before.
  let before = 0;
  for (const [at, { fromSeconds, queriesPerSecond }] of settings.stages.entries()) {
    const more = queriesPerSecond - before;
    new PoissonLoad(clock, `load ${at}`, more, fromSeconds * 1e9, durationNs, settings.seed + at, arrive);
    before = queriesPerSecond;
  }
  clock.run(durationNs);
  const batches = batchWindows.list();
  clock.run();
  return {
    strategy: batching.strategy === 'fixed' ? `fixed ${batching.maxBatchSize}` : batching.strategy,
    windows: windows.list().filter((window) => window.atSeconds < settings.durationSeconds),
    batches,
    stages: stages.map(({ answers }, at) => stageResult(settings, at, answers.list()[0], batches)),
    longestLatencyMs: longestNs / 1e6,
    queries,
  };
}

/** The stage to which a moment counts; -1 before the first, while the controller adapts, and after the end. */
function settledStage(settings: AimdSettings, atSeconds: number): number {
  if (atSeconds >= settings.durationSeconds) return -1;
  const at = settings.stages.findLastIndex((stage) => stage.fromSeconds <= atSeconds);
  if (at < 0 || atSeconds < settings.stages[at].fromSeconds + settings.adaptationSeconds) return -1;
  return at;
}

function stageResult(
  settings: AimdSettings,
  at: number,
  whole: Window,
  batches: readonly BatchWindow[],
): StageResult {
  const { fromSeconds, queriesPerSecond } = settings.stages[at];
  const untilSeconds = settings.stages.at(at + 1)?.fromSeconds ?? settings.durationSeconds;
  const seconds = untilSeconds - fromSeconds - settings.adaptationSeconds;
  const own = batches.filter((window) => settledStage(settings, window.atSeconds) === at);
  const items = own.reduce((sum, window) => sum + window.batches * window.meanSize, 0);
  return {
    queriesPerSecond,
    answersInTimePerSecond: (whole.answers - whole.defaults) / seconds,
    modelItemsPerSecond: items / seconds,
    defaultShare: whole.defaults / whole.answers,
    p50Ms: whole.p50Ms,
    p99Ms: whole.p99Ms,
    meanBatchSize: items / own.reduce((sum, window) => sum + window.batches, 0),
  };
}

function registryFor(settings: AimdSettings, model: ModelRecord): FixedRegistry {
  return new FixedRegistry(
    {
      name: APPLICATION,
      inputType: model.inputType,
      defaultOutput: '-1',
      latencyObjectiveUs: settings.objectiveMs * 1000,
      policy: { name: 'static', parameters: null },
    },
    [model],
  );
}
