import { runStrategy, type AimdSettings } from './aimdExperiment.js';
import { syntheticModel, type SyntheticProfile } from './syntheticModel.js';

export const SEED = 20170327;
export const OBJECTIVE_MS = 20;
export const DELAYS_MS = [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4] as const;
export const QUERIES_PER_SECOND = 1600;

export interface DelayedModel {
  readonly name: string;
  readonly profile: SyntheticProfile;
}

/** Chosen, not measured: what a batch costs beside its items is all of the first, and a little of the second. */
export const DELAYED_MODELS: readonly DelayedModel[] = [
  { name: 'high fixed cost', profile: { fixedMs: 0.5, itemMs: 0.01, jitter: 0.05 } },
  { name: 'low fixed cost', profile: { fixedMs: 0.02, itemMs: 0.2, jitter: 0.05 } },
];

/** Further fixed costs, with items as cheap as those of the first model. */
export const FIXED_COSTS_MS = [0.1, 0.25, 0.5, 1, 2, 4] as const;

export interface DelayResult {
  readonly delayMs: number;
  readonly meanBatchSize: number;
  /** Items a second that the container does while it works: what it can do in batches of such a size. */
  readonly containerPerSecond: number;
  /** Over no delay. */
  readonly gain: number;
  /** Of the container's time. */
  readonly busyShare: number;
  readonly inTimePerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Poisson arrivals at a moderate rate, each delay under the same ones; virtual time. */
export function runDelays(
  { fixedMs, itemMs, jitter }: SyntheticProfile,
  delaysMs: readonly number[],
  queriesPerSecond: number,
  durationSeconds: number,
  seed = SEED,
): DelayResult[] {
  const settings: AimdSettings = {
    seed,
    durationSeconds,
    windowSeconds: 0.1,
    objectiveMs: OBJECTIVE_MS,
    stages: [{ fromSeconds: 0, queriesPerSecond }],
    adaptationSeconds: durationSeconds / 4,
  };
  const model = syntheticModel({ fixedMs, itemMs, jitter }, seed);
  const measured = delaysMs.map((delayMs) => {
    const [stage] = runStrategy(settings, model, { strategy: 'aimd', delayUs: delayMs * 1000 }).stages;
    const itemSeconds = (fixedMs / stage.meanBatchSize + itemMs) / 1000;
    return { delayMs, stage, itemSeconds };
  });
  return measured.map(({ delayMs, stage, itemSeconds }) => ({
    delayMs,
    meanBatchSize: stage.meanBatchSize,
    containerPerSecond: 1 / itemSeconds,
    gain: measured[0].itemSeconds / itemSeconds,
    busyShare: stage.modelItemsPerSecond * itemSeconds,
    inTimePerSecond: stage.answersInTimePerSecond,
    p50Ms: stage.p50Ms,
    p99Ms: stage.p99Ms,
  }));
}

/** What 2 ms of delay gain a model of this fixed cost, at a rate that keeps it about as busy as the others. */
export function gainOfTwoMs(
  fixedMs: number,
  durationSeconds: number,
  seed = SEED,
): { readonly fixedMs: number; readonly queriesPerSecond: number; readonly gain: number } {
  const [{ profile }] = DELAYED_MODELS;
  const queriesPerSecond = Math.round((QUERIES_PER_SECOND * profile.fixedMs) / fixedMs);
  const [, delayed] = runDelays({ ...profile, fixedMs }, [0, 2], queriesPerSecond, durationSeconds, seed);
  return { fixedMs, queriesPerSecond, gain: delayed.gain };
}
