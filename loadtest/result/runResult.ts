import type { CacheStats, DefaultReason } from '../../services/prediction/index.js';
import type { DurationSummary, SelectionShares, SizeBin } from '../measure/index.js';

/** Of this document's shape. */
export const RESULT_FORMAT = 2;

export interface Accuracy {
  /** Answers whose true output is known, defaults among them. */
  readonly labelled: number;
  readonly correct: number;
  readonly share: number;
}

export interface QueryCounts {
  readonly arrivals: number;
  readonly answers: number;
  /** Answers that are no default: in time, since none is ever late. */
  readonly predictions: number;
  readonly cachedAnswers: number;
  readonly defaults: number;
  readonly defaultReasons: Readonly<Partial<Record<DefaultReason, number>>>;
  readonly refusals: Readonly<Record<string, number>>;
}

export interface ApplicationResult extends QueryCounts {
  readonly name: string;
  readonly objectiveMs: number;
  readonly policy: { readonly name: string; readonly parameters: unknown };
  readonly models: readonly string[];
  readonly inputs: string;
  readonly latency: DurationSummary | null;
  /** `[ms, share of answers at or below]`. */
  readonly latencyDistribution: readonly (readonly [number, number])[];
  readonly accuracy: Accuracy | null;
  /** By how predictions were found for it. */
  readonly feedback: Readonly<Record<string, number>>;
  /** At the end, of its own context. */
  readonly selectionShares: Readonly<Record<string, number>>;
}

export interface ModelResult {
  readonly name: string;
  readonly version: string;
  readonly container: string;
  readonly replicas: number;
  readonly lostReplicas: readonly string[];
  readonly answers: number;
  readonly cachedAnswers: number;
  readonly latePredictions: number;
  readonly batches: number;
  readonly items: number;
  readonly failedItems: number;
  readonly meanBatchSize: number | null;
  readonly largestBatch: number;
  /** The controllers' largest allowed batch at the end, by replica. */
  readonly batchLimits: readonly number[];
  readonly batchSizes: readonly SizeBin[];
  readonly service: DurationSummary | null;
  readonly queueing: DurationSummary | null;
}

export interface WindowResult {
  /** The window's beginning. */
  readonly fromSeconds: number;
  readonly arrivals: number;
  readonly answers: number;
  readonly defaults: number;
  readonly defaultReasons: Readonly<Partial<Record<DefaultReason, number>>>;
  readonly batches: number;
  readonly items: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** At the window's end; null while nothing was sampled. */
  readonly shares: SelectionShares | null;
}

export interface NodeResult {
  readonly name: string;
  readonly gpus: readonly string[];
  /** On each of its GPUs. */
  readonly replicas: readonly number[];
  /** Simulated time with a batch in flight. */
  readonly busySeconds: number;
}

/** What a replay came to. Every time in it is simulated; the same settings give the same document, byte for byte. */
export interface RunResult extends QueryCounts {
  readonly format: typeof RESULT_FORMAT;
  readonly windjammer: string;
  readonly node: string;
  readonly seed: number;
  readonly trace: string;
  readonly scale: number;
  /** From the trace's start to its last arrival, or to where it was cut off. */
  readonly durationSeconds: number;
  /** From there to the last answer and judgement. */
  readonly drainSeconds: number;
  /** Before the trace's start: models were loaded. */
  readonly loadingSeconds: number;
  readonly offeredPerSecond: number;
  readonly predictionsPerSecond: number;
  readonly latency: DurationSummary | null;
  readonly accuracy: Accuracy | null;
  readonly feedback: { readonly share: number; readonly delayMs: number; readonly given: number };
  readonly cache: CacheStats;
  readonly applications: readonly ApplicationResult[];
  readonly models: readonly ModelResult[];
  readonly gpuNodes: readonly NodeResult[];
  readonly windowSeconds: number;
  readonly windows: readonly WindowResult[];
}

/** JSON text of a result: numbers with six digits, which is more than the histograms have. */
export function resultJson(result: RunResult): string {
  return `${JSON.stringify(result, sixDigits, 2)}\n`;
}

function sixDigits(_key: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isInteger(value)) return value;
  return Number(value.toPrecision(6));
}
