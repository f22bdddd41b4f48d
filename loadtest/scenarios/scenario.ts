import type { RunResult } from '../result/index.js';

/** A replay that a scenario consists of. */
export interface ScenarioRun {
  readonly name: string;
  /** As `windjammer replay` takes it. */
  readonly trace: string;
  readonly seconds: number;
  readonly scale?: number;
  readonly replicas?: number;
  readonly policy?: string;
  readonly repeats?: number;
  readonly feedback?: number;
}

/** What must be seen in a scenario's results, and whether it is. */
export interface Expectation {
  readonly text: string;
  readonly holds: boolean;
}

/** A load as others have published it, and the shape that its results have. */
export interface Scenario {
  readonly name: string;
  /** A sentence. */
  readonly about: string;
  /** How long it usually takes on two cores. */
  readonly usually: string;
  /** Applications and models, as the file of `--config` has them; undefined: what a fresh server serves. */
  readonly config?: object;
  readonly runs: readonly ScenarioRun[];
  /** @param results of the runs, in their order */
  readonly expects: (results: readonly RunResult[]) => readonly Expectation[];
}

/** A model that takes so long for a batch. */
export function timedModel(name: string, fixedMs: number, itemMs: number, replicas = 1): object {
  return {
    model_name: name,
    model_version: '1',
    input_type: 'doubles',
    container_name: 'windjammer/synthetic',
    replicas,
    synthetic: { fixed_ms: fixedMs, item_ms: itemMs, jitter: 0.05, output: '0' },
  };
}

export function application(name: string, models: readonly string[], objectiveMs: number): object {
  return {
    name,
    input_type: 'doubles',
    default_output: '-1',
    latency_slo_micros: objectiveMs * 1000,
    linked_models: models,
  };
}

/** Share of the queries that were predicted in time. */
export function inTimeShare({ inTime, arrivals }: RunResult): number {
  return arrivals === 0 ? 1 : inTime / arrivals;
}

export function meanBatch({ models }: RunResult): number {
  const batches = models.reduce((sum, model) => sum + model.batches, 0);
  return batches === 0 ? 0 : models.reduce((sum, model) => sum + model.items, 0) / batches;
}

export function p99(result: RunResult): number {
  return result.latency?.p99Ms ?? 0;
}
