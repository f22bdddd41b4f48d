import { InProcessChannel, SyntheticContainer } from '../../containers/runtime/index.js';
import { VirtualClock } from '../../simulator/time/index.js';
import { PredictionEngine, SilentObserver, type BatchRecord } from '../../services/prediction/index.js';
import type { BatchingChoice } from '../../services/registry/index.js';
import { MemoryStore } from '../../services/store/index.js';
import { AnswerWindows, type Window } from '../report/index.js';
import { FixedRegistry } from './fixedRegistry.js';
import { PoissonLoad } from './poissonLoad.js';

/** Open-loop Poisson arrivals from a moment on, inputs all different. */
export interface Stage {
  readonly fromSeconds: number;
  readonly queriesPerSecond: number;
}

export interface AimdSettings {
  readonly seed: number;
  readonly durationSeconds: number;
  readonly windowSeconds: number;
  readonly objectiveMs: number;
  /** Service time of a batch of n: fixedMs + n * itemMs, one batch after the other, spread by `jitter`. */
  readonly fixedMs: number;
  readonly itemMs: number;
  readonly jitter: number;
  /** In order of time, the first from 0. */
  readonly stages: readonly Stage[];
  /** The start of each stage that its figures leave out, for the controller to adapt. */
  readonly adaptationSeconds: number;
}

/**
 * A model with a high fixed cost, like the paper's kernel machines: alone an input takes 2.05 ms, so that 488 a second is
 * all that the model can do without batching. The stages: beyond that, near what batches within the objective can do,
 * and far beyond it.
 */
export const AIMD_SETTINGS: AimdSettings = {
  seed: 20170327,
  durationSeconds: 9,
  windowSeconds: 0.05,
  objectiveMs: 20,
  fixedMs: 2,
  itemMs: 0.05,
  jitter: 0.05,
  stages: [
    { fromSeconds: 0, queriesPerSecond: 4000 },
    { fromSeconds: 3, queriesPerSecond: 11_000 },
    { fromSeconds: 6, queriesPerSecond: 20_000 },
  ],
  adaptationSeconds: 0.5,
};

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

/** Batches by the window in which they were answered. */
class BatchWindows extends SilentObserver {
  readonly windows: { batches: number; items: number; limit: number }[] = [];

  constructor(
    private readonly clock: VirtualClock,
    private readonly windowNs: number,
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
export function runStrategy(settings: AimdSettings, batching: BatchingChoice): StrategyRun {
  const clock = new VirtualClock();
  const windowNs = settings.windowSeconds * 1e9;
  const durationNs = settings.durationSeconds * 1e9;
  const batchWindows = new BatchWindows(clock, windowNs);
  const windows = new AnswerWindows(windowNs);
  const stages = settings.stages.map((stage) => ({ stage, answers: new AnswerWindows(Infinity) }));
  let longestNs = 0;
  let queries = 0;
  const engine = new PredictionEngine({
    clock,
    registry: registryFor(settings, batching),
    store: new MemoryStore(),
    seed: settings.seed,
    observer: batchWindows,
  });
  engine.addReplica(syntheticReplica(clock, settings));
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
    const input = new Uint8Array(Float64Array.of(number, 1, 2, 3, 4, 5, 6, 7).buffer);
    engine.predict({ id: `${number}`, application: 'digits', context: '', input }, sink);
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

/** The stage to which a moment counts; -1 while the controller adapts to it, and after the end. */
function settledStage(settings: AimdSettings, atSeconds: number): number {
  if (atSeconds >= settings.durationSeconds) return -1;
  const at = settings.stages.findLastIndex((stage) => stage.fromSeconds <= atSeconds);
  return atSeconds >= settings.stages[at].fromSeconds + settings.adaptationSeconds ? at : -1;
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

function registryFor(settings: AimdSettings, batching: BatchingChoice): FixedRegistry {
  return new FixedRegistry(
    {
      name: 'digits',
      inputType: 'doubles',
      defaultOutput: '-1',
      latencyObjectiveUs: settings.objectiveMs * 1000,
      policy: { name: 'static', parameters: null },
    },
    [
      {
        name: 'synthetic',
        version: '1',
        inputType: 'doubles',
        labels: [],
        container: { kind: 'external', containerName: 'synthetic', modelDataPath: '' },
        batching,
      },
    ],
  );
}

function syntheticReplica(clock: VirtualClock, settings: AimdSettings): InProcessChannel {
  const channel = new InProcessChannel(clock, 'channel');
  const identity = { model: 'synthetic', version: '1', replica: '0' };
  const container = new SyntheticContainer(
    clock,
    'container',
    identity,
    {
      fixedNs: settings.fixedMs * 1e6,
      itemNs: settings.itemMs * 1e6,
      jitter: { share: settings.jitter, seed: settings.seed },
      output: '7',
      inputType: 'doubles',
      maxBatchSize: 4096,
    },
    channel,
  );
  channel.connect(container);
  return channel;
}
