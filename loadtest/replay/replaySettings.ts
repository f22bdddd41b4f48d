import type { SelectionPolicy } from '../../selection/index.js';
import type { ApplicationRecord, ModelRecord } from '../../services/registry/index.js';
import type { HostTimes } from '../hostTimes/index.js';
import type { InputPool } from '../inputs/index.js';
import type { Trace } from '../trace/index.js';

/** A model that runs no kernels: a batch of n takes `fixedMs + n * itemMs`, give or take. */
export interface SyntheticTimes {
  readonly fixedMs: number;
  readonly itemMs: number;
  /** Each batch's time is multiplied by a draw from [1 - jitter, 1 + jitter]. */
  readonly jitter: number;
  readonly output: string;
}

export interface ReplayedApplication {
  readonly record: ApplicationRecord;
  /** Names, in order of linking. */
  readonly models: readonly string[];
  readonly inputs: InputPool;
  /** In place of the record's: one from a file, which is asked here. */
  readonly policy?: SelectionPolicy;
}

export interface ReplayedModel {
  readonly record: ModelRecord;
  readonly replicas: number;
  /** In place of the record's container. */
  readonly synthetic?: SyntheticTimes;
}

export interface FeedbackSettings {
  /** Of the answered queries whose label is known, the share that is judged. */
  readonly share: number;
  /** From the answer to its judgement. */
  readonly delayMs: number;
}

/** Everything that a replay's outcome depends on. */
export interface ReplaySettings {
  readonly seed: number;
  readonly trace: Trace;
  readonly scale: number;
  /** Arrivals from here on are left out. undefined: the trace ends by itself. */
  readonly durationSeconds: number | undefined;
  /** The first takes the queries of a trace that names none. */
  readonly applications: readonly ReplayedApplication[];
  readonly models: readonly ReplayedModel[];
  /** Profiles of each node's GPUs. */
  readonly gpus: readonly string[];
  readonly nodes: number;
  readonly feedback: FeedbackSettings;
  readonly cacheBytes: number;
  /** What the host takes is charged too; undefined: it takes no time. */
  readonly hostTimes?: HostTimes;
  /** Gets every answer, as a JSON line. */
  readonly onAnswer?: (line: string) => void;
}
