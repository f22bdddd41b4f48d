import { wholeNumberHistogram, type Histogram } from '../../simulator/statistics/index.js';
import type { QueryTap } from '../telemetry/index.js';
import type { Answer, BatchRecord, Query } from '../prediction/index.js';
import type { BatchView, LatencyView, QueryRates } from './feedFrame.js';

/** An hour, the longest objective; latencies are kept in microseconds with two digits. */
const LONGEST_US = 3_600_000_000;

class BatchTally {
  batches = 0;
  items = 0;
  largest = 0;

  constructor(
    readonly model: string,
    readonly version: string,
  ) {}
}

/** What happened since the last look. */
export interface Traffic {
  readonly queries: QueryRates;
  readonly latency: LatencyView | null;
  readonly batches: readonly BatchView[];
  /** Answers a second. */
  readonly answersOf: (application: string) => number;
}

/** Counts the query path while somebody watches. */
export class TrafficMeter implements QueryTap {
  private predicted = 0;
  private defaulted = 0;
  private cancelled = 0;
  private refused = 0;
  private feedback = 0;
  private readonly latenciesUs: Histogram = wholeNumberHistogram(2);
  private answers = new Map<string, number>();
  /** model → version → tally. */
  private batches = new Map<string, Map<string, BatchTally>>();

  onAnswer({ application }: Query, { isDefault, latencyNs }: Answer): void {
    if (isDefault) this.defaulted += 1;
    else this.predicted += 1;
    this.answers.set(application, (this.answers.get(application) ?? 0) + 1);
    this.latenciesUs.recordValue(Math.min(Math.max(1, Math.round(latencyNs / 1000)), LONGEST_US));
  }

  onCancel(): void {
    this.cancelled += 1;
  }

  onRefused(): void {
    this.refused += 1;
  }

  onFeedback(): void {
    this.feedback += 1;
  }

  onBatch({ model, version, size }: BatchRecord): void {
    let versions = this.batches.get(model);
    if (versions === undefined) this.batches.set(model, (versions = new Map<string, BatchTally>()));
    let tally = versions.get(version);
    if (tally === undefined) versions.set(version, (tally = new BatchTally(model, version)));
    tally.batches += 1;
    tally.items += size;
    tally.largest = Math.max(tally.largest, size);
  }

  /** Hands out what was counted in `seconds`, and starts afresh. Rates over no time are 0. */
  take(seconds: number): Traffic {
    const rate = (count: number): number => (seconds > 0 ? count / seconds : 0);
    const { answers } = this;
    const traffic: Traffic = {
      queries: {
        predicted: rate(this.predicted),
        defaulted: rate(this.defaulted),
        cancelled: rate(this.cancelled),
        refused: rate(this.refused),
        feedback: rate(this.feedback),
      },
      latency: this.latency(),
      batches: [...this.batches.values()].flatMap((versions) => [...versions.values()].map(viewOf)),
      answersOf: (application) => rate(answers.get(application) ?? 0),
    };
    this.predicted = this.defaulted = this.cancelled = this.refused = this.feedback = 0;
    this.latenciesUs.reset();
    this.answers = new Map();
    this.batches = new Map();
    return traffic;
  }

  private latency(): LatencyView | null {
    const { latenciesUs } = this;
    if (latenciesUs.totalCount === 0) return null;
    return {
      p50Ms: latenciesUs.getValueAtPercentile(50) / 1000,
      p99Ms: latenciesUs.getValueAtPercentile(99) / 1000,
    };
  }
}

function viewOf({ model, version, batches, items, largest }: BatchTally): BatchView {
  return { model, version, batches, meanSize: items / batches, largestSize: largest };
}
