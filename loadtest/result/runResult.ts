import type { CacheStats, DefaultReason } from '../../services/prediction/index.js';
import { parseJsonText } from '../../simulator/files/index.js';
import type { DurationSummary, SelectionShares, SizeBin } from '../measure/index.js';
import { resultShape } from './resultShape.js';

/** Of this document's shape. */
export const RESULT_FORMAT = 3;

export interface Accuracy {
  /** Answers whose true output is known, defaults among them. */
  readonly labelled: number;
  readonly correct: number;
  readonly share: number;
}

export type CacheCounts = Pick<
  CacheStats,
  'hits' | 'joins' | 'misses' | 'evictions' | 'entries' | 'bytes' | 'limitBytes'
>;

export interface QueryCounts {
  readonly arrivals: number;
  readonly answers: number;
  /** Answers that are no default. */
  readonly predictions: number;
  /** Those of them whose latency was within the objective; in a replay all are. */
  readonly inTime: number;
  readonly cachedAnswers: number;
  readonly defaults: number;
  readonly defaultReasons: Readonly<Partial<Record<DefaultReason, number>>>;
  readonly refusals: Readonly<Record<string, number>>;
}

export interface ApplicationResult extends QueryCounts {
  readonly name: string;
  readonly objectiveMs: number;
  /** null: a load test does not know it. */
  readonly policy: { readonly name: string; readonly parameters: unknown } | null;
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

/** How a load test asked, and how well it kept its own times. */
export interface LoadFacts {
  readonly url: string;
  readonly mode: 'http' | 'websocket' | 'v2';
  /** Open: queries leave when the trace says so, whatever became of others. Closed: each connection asks again once it is answered. */
  readonly loop: 'open' | 'closed';
  readonly connections: number;
  readonly processes: number;
  /** From when a query was to leave until it did; null in a closed loop, where nothing says when. */
  readonly lateness: DurationSummary | null;
  /** Lateness at the 99th percentile beyond which the load test ends itself. */
  readonly lateLimitMs: number | null;
  /** What was still under way when the load test gave up waiting. */
  readonly unanswered: number;
}

/** A part of a query's way in the server, by its own metrics. */
export interface ServerPart {
  readonly name: string;
  readonly times: DurationSummary;
}

/**
 * What a run of a trace came to. A replay's times are simulated: the same settings give the same document, byte for byte. A load
 * test's are the wall's, from when a query was to leave until its answer was there.
 */
export interface RunResult extends QueryCounts {
  readonly format: typeof RESULT_FORMAT;
  readonly kind: 'replay' | 'loadtest';
  /** Of a replay: the cards' alone, or the host's too, measured (`--host-times`). Of a load test: the wall's. */
  readonly times: 'simulated' | 'host' | 'wall';
  /** Why it ended before its time; null: it did not. */
  readonly endedEarly: string | null;
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
  /** Predictions in time. */
  readonly goodputPerSecond: number;
  readonly latency: DurationSummary | null;
  readonly accuracy: Accuracy | null;
  readonly feedback: { readonly share: number; readonly delayMs: number; readonly given: number };
  /** null: a load test could not read the server's metrics. */
  readonly cache: CacheCounts | null;
  readonly applications: readonly ApplicationResult[];
  readonly models: readonly ModelResult[];
  readonly gpuNodes: readonly NodeResult[];
  /** Of a load test. */
  readonly load: LoadFacts | null;
  /** Of a load test whose server's metrics could be read. */
  readonly serverParts: readonly ServerPart[];
  readonly windowSeconds: number;
  readonly windows: readonly WindowResult[];
}

/** @throws Error that says how it is no JSON, or none of this format */
export function readResult(text: string): RunResult {
  const value = parseJsonText(text);
  const { format, applications, windows } = (value ?? {}) as Partial<RunResult>;
  if (format !== RESULT_FORMAT || !Array.isArray(applications) || !Array.isArray(windows)) {
    const found =
      format === undefined ? 'it is no result of replay or loadtest' : `its format is ${String(format)}`;
    throw new Error(`${found}, and format ${RESULT_FORMAT} is read: run it again`);
  }
  const checked = resultShape.safeParse(value);
  if (!checked.success) {
    const [{ path, message }] = checked.error.issues;
    throw new Error(`${path.join('.')} is not as replay and loadtest print it (${message}): run it again`);
  }
  return value as RunResult;
}

/** JSON text of a result: numbers with six digits, which is more than the histograms have. */
export function resultJson(result: RunResult): string {
  return `${JSON.stringify(result, sixDigits, 2)}\n`;
}

function sixDigits(_key: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isInteger(value)) return value;
  return Number(value.toPrecision(6));
}
