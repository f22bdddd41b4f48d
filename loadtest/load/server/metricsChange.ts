import type { DurationSummary, SizeBin } from '../../measure/index.js';
import type { MetricSample, MetricSamples } from './metricsText.js';

/** Picks series by some of their labels. */
export type Labels = Readonly<Record<string, string>>;

/** How counters and histograms have grown between two looks at them. */
export class MetricsChange {
  constructor(
    private readonly before: MetricSamples,
    private readonly after: MetricSamples,
  ) {}

  /** Sum over the series that have these labels. */
  counted(name: string, labels: Labels = {}): number {
    return Math.max(0, total(this.after, name, labels) - total(this.before, name, labels));
  }

  /** At the end. */
  value(name: string, labels: Labels = {}): number {
    return total(this.after, name, labels);
  }

  /** Values that a label has. */
  valuesOf(name: string, label: string, labels: Labels = {}): readonly string[] {
    const values = (this.after.get(name) ?? []).filter((sample) => has(sample, labels));
    return [...new Set(values.flatMap((sample) => sample.labels[label] ?? []))];
  }

  /** Observations by the upper end of their bucket. */
  buckets(name: string, labels: Labels): readonly { readonly to: number; readonly count: number }[] {
    const ends = this.valuesOf(`${name}_bucket`, 'le', labels)
      .map((text) => (text === '+Inf' ? Infinity : Number(text)))
      .sort((a, b) => a - b);
    let before = 0;
    return ends.map((to) => {
      const upTo = this.counted(`${name}_bucket`, {
        ...labels,
        le: to === Infinity ? '+Inf' : leText(this.after, name, to),
      });
      const count = Math.max(0, upTo - before);
      before = upTo;
      return { to, count };
    });
  }

  /** Of a histogram of whole numbers. */
  sizes(name: string, labels: Labels): SizeBin[] {
    let from = 1;
    const bins = this.buckets(name, labels).map(({ to, count }) => {
      const bin = { from, to: to === Infinity ? from : to, count };
      from = bin.to + 1;
      return bin;
    });
    return bins.filter(({ count }) => count > 0);
  }

  /** Of a histogram of seconds: the mean is exact, quantiles lie between the ends of a bucket; null: nothing was observed. */
  durations(name: string, labels: Labels = {}): DurationSummary | null {
    const buckets = this.buckets(name, labels);
    const count = this.counted(`${name}_count`, labels);
    if (count === 0) return null;
    const mean = this.counted(`${name}_sum`, labels) / count;
    // No value is below zero, so that of those above a quantile the mean has a share (Markov): a bucket's end may lie far beyond.
    const quantile = (share: number): number =>
      Math.min(quantileOf(buckets, count, share), mean / Math.max(1 - share, 1 / count)) * 1000;
    return {
      meanMs: mean * 1000,
      p50Ms: quantile(0.5),
      p90Ms: quantile(0.9),
      p95Ms: quantile(0.95),
      p99Ms: quantile(0.99),
      p999Ms: quantile(0.999),
      maxMs: quantile(1),
    };
  }
}

function quantileOf(
  buckets: readonly { readonly to: number; readonly count: number }[],
  count: number,
  share: number,
): number {
  let passed = 0;
  let from = 0;
  for (const { to, count: here } of buckets) {
    if (passed + here >= share * count && here > 0) {
      return to === Infinity ? from : from + ((to - from) * (share * count - passed)) / here;
    }
    passed += here;
    if (to !== Infinity) from = to;
  }
  return from;
}

/** An upper end as the server writes it. */
function leText(samples: MetricSamples, name: string, to: number): string {
  const found = samples.get(`${name}_bucket`)?.find(({ labels }) => Number(labels.le) === to);
  return found?.labels.le ?? String(to);
}

function total(samples: MetricSamples, name: string, labels: Labels): number {
  let sum = 0;
  for (const sample of samples.get(name) ?? []) if (has(sample, labels)) sum += sample.value;
  return sum;
}

function has({ labels }: MetricSample, wanted: Labels): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}
