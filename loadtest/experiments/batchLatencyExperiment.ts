import { wholeNumberHistogram } from '../../simulator/statistics/index.js';
import { builtInModelPath, type BuiltInModel } from '../../containers/models/index.js';
import { tryModel } from '../../containers/runtime/index.js';
import type { BatchingChoice } from '../../services/registry/index.js';
import { runStrategy, type AimdSettings, type ExperimentModel, type StrategyRun } from './aimdExperiment.js';
import { digitsModel } from './digitsModel.js';
import { syntheticModel, type SyntheticProfile } from './syntheticModel.js';

export const SEED = 20170327;
export const OBJECTIVE_MS = 20;
export const WINDOW_SECONDS = 0.05;
/** A batch may take half of the objective, and one batch waits at the container for the one before. */
const BATCH_MS = OBJECTIVE_MS / 4;
/** Beyond what the hand-tuned size can do. */
const OVERLOAD = 1.3;

/** A model's latency against its batch size, with the line of least squares through it. */
export interface LatencyProfile {
  readonly name: string;
  readonly points: readonly { readonly batchSize: number; readonly latencyUs: number }[];
  readonly fixedUs: number;
  readonly itemUs: number;
  /** Share of the variance that the line explains. */
  readonly r2: number;
}

/** A model of the comparison, with the sizes that a person would set. */
export interface ComparedModel {
  readonly name: string;
  readonly description: string;
  readonly model: ExperimentModel;
  readonly settings: AimdSettings;
  /** The largest in time: found from the model's profile, which nobody but an experiment knows. */
  readonly tunedSize: number;
  /** Right for another model. */
  readonly mistunedSize: number;
}

export interface StrategyResult {
  readonly strategy: string;
  readonly inTimePerSecond: number;
  /** Over what no batching computes, late answers too. */
  readonly gain: number;
  readonly defaultShare: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the batches, as the container measures it. */
  readonly serviceP99Ms: number;
  readonly meanBatchSize: number;
}

export interface ModelComparison {
  readonly name: string;
  readonly description: string;
  readonly offeredPerSecond: number;
  readonly results: readonly StrategyResult[];
  readonly runs: readonly StrategyRun[];
}

/** A kernel model's batches, each alone on one simulated H200. */
export function latencyProfile(name: BuiltInModel): LatencyProfile {
  const points = tryModel(builtInModelPath(name)).batches.map(({ batchSize, latencyUs }) => ({
    batchSize,
    latencyUs,
  }));
  return { name, points, ...leastSquares(points) };
}

export function leastSquares(
  points: LatencyProfile['points'],
): Pick<LatencyProfile, 'fixedUs' | 'itemUs' | 'r2'> {
  const meanSize = points.reduce((sum, { batchSize }) => sum + batchSize, 0) / points.length;
  const meanUs = points.reduce((sum, { latencyUs }) => sum + latencyUs, 0) / points.length;
  let sizes = 0;
  let products = 0;
  let latencies = 0;
  for (const { batchSize, latencyUs } of points) {
    sizes += (batchSize - meanSize) ** 2;
    products += (batchSize - meanSize) * (latencyUs - meanUs);
    latencies += (latencyUs - meanUs) ** 2;
  }
  const itemUs = products / sizes;
  return { fixedUs: meanUs - itemUs * meanSize, itemUs, r2: products ** 2 / (sizes * latencies) };
}

/** Shaped like the families of the paper's figure 3: what a batch costs before, and with, each item. */
const FAMILIES: readonly { name: string; description: string; profile: SyntheticProfile }[] = [
  {
    name: 'noop',
    description: 'no fixed cost, as a container without a model',
    profile: { fixedMs: 0, itemMs: 0.02, jitter: 0.05 },
  },
  {
    name: 'linear, BLAS',
    description: 'high fixed cost, cheap items, as a linear SVM in scikit-learn',
    profile: { fixedMs: 0.85, itemMs: 0.03, jitter: 0.05 },
  },
  {
    name: 'linear, row by row',
    description: 'low fixed cost, as a linear SVM in Spark',
    profile: { fixedMs: 0.1, itemMs: 0.05, jitter: 0.05 },
  },
  {
    name: 'kernel SVM',
    description: 'expensive items, as a kernel SVM in scikit-learn',
    profile: { fixedMs: 0.2, itemMs: 4.5, jitter: 0.05 },
  },
];

/** Four times what suits the linear SVM in scikit-learn. */
const MISTUNED_SIZE = 512;

export function syntheticComparisons(
  seed = SEED,
  durationSeconds = 4,
  adaptationSeconds = 1.5,
): ComparedModel[] {
  return FAMILIES.map(({ name, description, profile }) => {
    const { fixedMs, itemMs, jitter } = profile;
    const tunedSize = Math.max(1, Math.floor((BATCH_MS / (1 + jitter) - fixedMs) / itemMs));
    const capacity = (1000 * tunedSize) / (fixedMs + tunedSize * itemMs);
    const queriesPerSecond = Math.round(OVERLOAD * capacity);
    return {
      name,
      description: `${description}: ${fixedMs} ms + n × ${itemMs} ms, ± ${jitter * 100} %`,
      model: syntheticModel(profile, seed),
      settings: settingsOf(seed, queriesPerSecond, durationSeconds, WINDOW_SECONDS, 0, adaptationSeconds),
      tunedSize,
      mistunedSize: MISTUNED_SIZE,
    };
  });
}

/** The models of application `digits`. Short: every prediction is computed by their kernels. */
export function digitsComparisons(
  names: readonly BuiltInModel[],
  seed = SEED,
  durationSeconds = 0.03,
): ComparedModel[] {
  return names.map((name) => ({
    name,
    description: 'kernel model on one simulated H200',
    model: digitsModel(name, seed),
    // The model loads within the first 10 ms.
    settings: settingsOf(seed, DIGITS_PER_SECOND, durationSeconds, 0.001, 0.01, 0.01),
    tunedSize: 256,
    mistunedSize: 2,
  }));
}

const DIGITS_PER_SECOND = 400_000;

/** Every strategy under the same arrivals. */
export function compareStrategies(compared: ComparedModel): ModelComparison {
  const { settings, model } = compared;
  const choices: BatchingChoice[] = [
    { strategy: 'aimd' },
    { strategy: 'quantile' },
    { strategy: 'fixed', maxBatchSize: compared.tunedSize },
    { strategy: 'fixed', maxBatchSize: compared.mistunedSize },
    { strategy: 'none' },
  ];
  const measured = choices.map((choice) => measure(settings, model, choice));
  const computedUnbatched = measured[4].run.stages[0].modelItemsPerSecond;
  return {
    name: compared.name,
    description: compared.description,
    offeredPerSecond: settings.stages[0].queriesPerSecond,
    results: measured.map(({ run, serviceP99Ms }) => {
      const [stage] = run.stages;
      return {
        strategy: run.strategy,
        inTimePerSecond: stage.answersInTimePerSecond,
        gain: stage.answersInTimePerSecond / computedUnbatched,
        defaultShare: stage.defaultShare,
        p50Ms: stage.p50Ms,
        p99Ms: stage.p99Ms,
        serviceP99Ms,
        meanBatchSize: stage.meanBatchSize,
      };
    }),
    runs: measured.map(({ run }) => run),
  };
}

function measure(
  settings: AimdSettings,
  model: ExperimentModel,
  choice: BatchingChoice,
): { run: StrategyRun; serviceP99Ms: number } {
  const services = wholeNumberHistogram();
  const fromNs = (settings.stages[0].fromSeconds + settings.adaptationSeconds) * 1e9;
  const run = runStrategy(settings, model, choice, (record, nowNs) => {
    if (nowNs >= fromNs && nowNs < settings.durationSeconds * 1e9) services.recordValue(record.serviceNs);
  });
  return { run, serviceP99Ms: services.getValueAtPercentile(99) / 1e6 };
}

function settingsOf(
  seed: number,
  queriesPerSecond: number,
  durationSeconds: number,
  windowSeconds: number,
  fromSeconds: number,
  adaptationSeconds: number,
): AimdSettings {
  return {
    seed,
    durationSeconds,
    windowSeconds,
    objectiveMs: OBJECTIVE_MS,
    stages: [{ fromSeconds, queriesPerSecond }],
    adaptationSeconds,
  };
}
