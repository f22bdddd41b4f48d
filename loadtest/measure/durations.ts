import {
  histogramOf,
  histogramText,
  wholeNumberHistogram,
  type Histogram,
} from '../../simulator/statistics/index.js';

/** Quantiles of a set of durations, in milliseconds. */
export interface DurationSummary {
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
}

/** Durations on their way between processes. */
export interface DurationsImage {
  readonly histogram: string;
  readonly digits: 2 | 3;
  readonly sumNs: number;
  readonly maxNs: number;
}

/** A histogram of nanoseconds: its size does not grow with their number. Quantiles are exact to three digits. */
export class Durations {
  private readonly histogram: Histogram;
  private sumNs = 0;
  private maxNs = 0;

  /** @param digits of the quantiles; two cost a seventh of the memory of three. */
  constructor(private readonly digits: 2 | 3 = 3) {
    this.histogram = wholeNumberHistogram(digits);
  }

  static of({ histogram, digits, sumNs, maxNs }: DurationsImage): Durations {
    const durations = new Durations(digits);
    // One that comes from a text has room for nothing more.
    durations.histogram.add(histogramOf(histogram));
    durations.sumNs = sumNs;
    durations.maxNs = maxNs;
    return durations;
  }

  image(): DurationsImage {
    const { digits, sumNs, maxNs } = this;
    return { histogram: histogramText(this.histogram), digits, sumNs, maxNs };
  }

  get count(): number {
    return this.histogram.totalCount;
  }

  record(ns: number): void {
    this.histogram.recordValue(Math.round(ns));
    this.sumNs += ns;
    if (ns > this.maxNs) this.maxNs = ns;
  }

  add(other: Durations): void {
    this.histogram.add(other.histogram);
    this.sumNs += other.sumNs;
    this.maxNs = Math.max(this.maxNs, other.maxNs);
  }

  /** @param percentile from 0 to 100. */
  quantileMs(percentile: number): number {
    // A bucket's end may lie beyond what was ever recorded.
    return Math.min(this.histogram.getValueAtPercentile(percentile), this.maxNs) / 1e6;
  }

  summary(): DurationSummary | null {
    if (this.count === 0) return null;
    return {
      meanMs: this.sumNs / this.count / 1e6,
      p50Ms: this.quantileMs(50),
      p90Ms: this.quantileMs(90),
      p95Ms: this.quantileMs(95),
      p99Ms: this.quantileMs(99),
      p999Ms: this.quantileMs(99.9),
      maxMs: this.maxNs / 1e6,
    };
  }

  /** The distribution function as steps: `[ms, share at or below]`, finer towards the end. */
  distribution(): (readonly [ms: number, share: number])[] {
    if (this.count === 0) return [];
    const steps: [number, number][] = [];
    for (const percentile of DISTRIBUTION_PERCENTILES) {
      const ms = this.quantileMs(percentile);
      const last = steps.at(-1);
      // Equal values: the highest share counts.
      if (last?.[0] === ms) last[1] = percentile / 100;
      else steps.push([ms, percentile / 100]);
    }
    return steps;
  }
}

const DISTRIBUTION_PERCENTILES = [
  ...Array.from({ length: 100 }, (_, percent) => percent),
  99.2,
  99.4,
  99.6,
  99.8,
  99.9,
  99.95,
  99.99,
  100,
];
