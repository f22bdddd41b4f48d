import { wholeNumberHistogram } from '../../simulator/statistics/index.js';
import type { BatchItem } from '../../containers/protocol/index.js';
import { InProcessChannel, SyntheticContainer } from '../../containers/runtime/testing/index.js';
import { KeyedDraw } from '../../selection/index.js';
import { PredictionEngine, type Answer, type Query } from '../../services/prediction/index.js';
import type { BatchingChoice } from '../../services/registry/index.js';
import { MemoryStore } from '../../services/store/index.js';
import { VirtualClock } from '../../simulator/time/index.js';
import { FixedRegistry } from './fixedRegistry.js';
import { PoissonLoad } from './poissonLoad.js';
import { recordedInput, recordedRecord, type RecordedModel } from './recordedModels.js';

export const SEED = 20170327;
const APPLICATION = 'digits';

/** How long a batch of a forest takes, on a machine that does other things too. */
export interface ForestService {
  /** The usual time of a batch of n: `fixedMs + n * itemMs`. */
  readonly fixedMs: number;
  readonly itemMs: number;
  /** Of the logarithm of the usual time. */
  readonly sigma: number;
  /** Share of batches that stall (collected garbage, a page fault, another process) … */
  readonly stallShare: number;
  /** … and the times over the usual that such a one takes, drawn between the two by a logarithm. */
  readonly stallFactors: readonly [number, number];
}

/** A fixed size, so that runs differ in nothing but the deadline. */
const FIXED_BATCHES: BatchingChoice = { strategy: 'fixed', maxBatchSize: 16 };

/** Chosen, not measured: about half busy at 500 queries a second. */
export const FOREST_SERVICE: ForestService = {
  fixedMs: 1.5,
  itemMs: 0.3,
  sigma: 0.15,
  stallShare: 0.001,
  stallFactors: [5, 20],
};

export interface StragglerSettings {
  readonly service: ForestService;
  readonly queriesPerSecond: number;
  readonly seconds: number;
  /** Poisson arrivals before these seconds are not counted. */
  readonly warmUpSeconds: number;
  /** undefined: every answer waits for all models. */
  readonly objectiveMs: number | undefined;
}

export const STRAGGLER_SETTINGS: StragglerSettings = {
  service: FOREST_SERVICE,
  queriesPerSecond: 500,
  seconds: 60,
  warmUpSeconds: 2,
  objectiveMs: 20,
};

export interface StragglerResult {
  readonly models: number;
  readonly queries: number;
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  /** Of the predictions that were asked for: not there when the query was answered. */
  readonly missingShare: number;
  /** The same for the worst query in a hundred. */
  readonly missingP99: number;
  /** Queries without any prediction. */
  readonly defaultShare: number;
  readonly accuracy: number;
}

/** Long enough for every stall. */
const PATIENCE_MS = 600_000;

/**
 * Majority votes of the models under Poisson arrivals, in virtual time: at the deadline of a query with what has arrived
 * by then (Clipper 5.2.2), or with everything.
 * @param truth the label of each digit of the set.
 */
export function runStragglers(
  settings: StragglerSettings,
  models: readonly RecordedModel[],
  truth: Uint8Array,
  seed = SEED,
): StragglerResult {
  const clock = new VirtualClock();
  const { queriesPerSecond, seconds, warmUpSeconds, objectiveMs = PATIENCE_MS } = settings;
  const engine = new PredictionEngine({
    clock,
    registry: new FixedRegistry(
      {
        name: APPLICATION,
        inputType: 'doubles',
        defaultOutput: '-1',
        latencyObjectiveUs: objectiveMs * 1000,
        policy: { name: 'majority', parameters: null },
      },
      models.map(({ name }) => recordedRecord(name, FIXED_BATCHES)),
    ),
    store: new MemoryStore(),
    seed,
    cacheBytes: 0,
    recentQueries: 1024,
  });
  for (const model of models) engine.addReplica(replicaOf(clock, model, settings.service, seed));
  const draw = new KeyedDraw(seed);
  const latencies = wholeNumberHistogram();
  const missing = wholeNumberHistogram();
  let missingSum = 0;
  let right = 0;
  let defaults = 0;
  let asked = 0;
  let answered = 0;
  const digitOf = (query: number): number => Math.floor(draw.of(`digit ${query}`)() * truth.length);
  const sink = {
    onAnswer: ({ id }: Query, answer: Answer) => {
      answered += 1;
      const query = Number(id);
      if (query < counted) return;
      latencies.recordValue(answer.latencyNs);
      const absent = models.length - answer.models.length;
      missing.recordValue(absent);
      missingSum += absent;
      if (answer.isDefault) defaults += 1;
      else if (answer.output === `${truth[digitOf(query)]}`) right += 1;
    },
    onRefusal: (_query: Query, refusal: { message: string }) => {
      throw new Error(refusal.message);
    },
  };
  /** The first query that counts. */
  let counted = Infinity;
  const arrive = (number: number): void => {
    if (counted === Infinity && clock.nowNs() >= warmUpSeconds * 1e9) counted = number;
    asked += 1;
    const input = recordedInput(digitOf(number), number);
    engine.predict({ id: `${number}`, application: APPLICATION, context: '', input }, sink);
  };
  new PoissonLoad(clock, 'load', queriesPerSecond, 1e6, seconds * 1e9, seed, arrive);
  clock.run();
  engine.close();
  if (answered !== asked) throw new Error(`${answered} of ${asked} queries were answered`);
  const queries = latencies.totalCount;
  return {
    models: models.length,
    queries,
    meanMs: latencies.mean / 1e6,
    p50Ms: latencies.getValueAtPercentile(50) / 1e6,
    p99Ms: latencies.getValueAtPercentile(99) / 1e6,
    longestMs: latencies.maxValue / 1e6,
    missingShare: missingSum / (queries * models.length),
    missingP99: missing.getValueAtPercentile(99) / models.length,
    defaultShare: defaults / queries,
    accuracy: right / queries,
  };
}

function replicaOf(
  clock: VirtualClock,
  { name, labels }: RecordedModel,
  service: ForestService,
  seed: number,
): InProcessChannel {
  const draw = new KeyedDraw(seed);
  const channel = new InProcessChannel(clock, `channel ${name}`);
  const work = {
    fixedNs: service.fixedMs * 1e6,
    itemNs: service.itemMs * 1e6,
    jitter: (batchId: number) => serviceFactor(service, draw.of(`${name} ${batchId}`)),
    inputType: 'doubles',
    maxBatchSize: 64,
    output: ({ bytes }: BatchItem) =>
      `${labels[new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getFloat64(0, true)]}`,
  } as const;
  const identity = { model: name, version: '1', replica: '0' };
  channel.connect(new SyntheticContainer(clock, `container ${name}`, identity, work, channel));
  return channel;
}

/** Over the usual time: logarithms spread normally, and now and then a stall. */
export function serviceFactor(service: ForestService, next: () => number): number {
  const { sigma, stallShare, stallFactors } = service;
  const [least, most] = stallFactors;
  // Box and Muller.
  const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const stall = next() < stallShare ? least * (most / least) ** next() : 1;
  return Math.exp(sigma * normal) * stall;
}
