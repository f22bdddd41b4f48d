import type { ApplicationTraffic, HistogramTally, ModelTraffic, Traffic } from '../telemetry/index.js';
import type { LatencyView, QueryRates } from './feedFrame.js';

/** The batches of one model version between two looks. */
export interface ModelFigures {
  readonly model: string;
  readonly version: string;
  readonly inputsPerSecond: number;
  readonly meanSize: number;
}

export interface TrafficFigures {
  readonly queries: QueryRates;
  readonly latency: LatencyView | null;
  /** Default outputs a second, by reason. */
  readonly defaults: ReadonlyMap<string, number>;
  /** Answers a second of those that were asked meanwhile; '' for models that were asked by their name. */
  readonly applications: ReadonlyMap<string, number>;
  /** Those that had batches meanwhile. */
  readonly models: readonly ModelFigures[];
}

type Counts = Pick<ApplicationTraffic, 'predicted' | 'cancelled' | 'refused' | 'feedback'> & {
  readonly defaults: ReadonlyMap<string, number>;
};
const NO_DEFAULTS: ReadonlyMap<string, number> = new Map();
const NOTHING: Counts = { predicted: 0, cancelled: 0, refused: 0, feedback: 0, defaults: NO_DEFAULTS };

/**
 * What happened between two looks at counts that go on anyhow: whoever looks costs the query path nothing. What was seen is
 * kept with the tally itself: one that is new under an old name begins at zero.
 */
export class TrafficReader {
  private applications = new Map<HistogramTally, Counts>();
  private models = new Map<HistogramTally, Pick<ModelTraffic, 'batches' | 'inputs'>>();
  private readonly latency = new LatencyReader();
  private refusedUnknown = 0;

  /** Begins with what has been counted by now. */
  constructor(private readonly read: () => Traffic) {
    this.take(0);
  }

  /** Since the last look. Rates over no time are 0. */
  take(seconds: number): TrafficFigures {
    const rate = (count: number): number => (seconds > 0 ? Math.max(0, count) / seconds : 0);
    const traffic = this.read();
    const sum = { predicted: 0, defaulted: 0, cancelled: 0, refused: 0, feedback: 0 };
    sum.refused += Math.max(0, traffic.refusedUnknown - this.refusedUnknown);
    this.refusedUnknown = traffic.refusedUnknown;
    const defaults = new Map<string, number>();
    const applications = new Map<string, number>();
    const tallies: HistogramTally[] = [];
    const next: typeof this.applications = new Map();
    for (const {
      name,
      latency,
      predicted,
      cancelled,
      refused,
      feedback,
      defaults: by,
    } of traffic.applications) {
      const past = this.applications.get(latency) ?? NOTHING;
      let defaulted = 0;
      for (const [reason, count] of by) {
        const more = count - (past.defaults.get(reason) ?? 0);
        if (more <= 0) continue;
        defaulted += more;
        defaults.set(reason, (defaults.get(reason) ?? 0) + more);
      }
      const answers = predicted - past.predicted + defaulted;
      if (answers > 0) applications.set(name, rate(answers));
      sum.predicted += predicted - past.predicted;
      sum.defaulted += defaulted;
      sum.cancelled += cancelled - past.cancelled;
      sum.refused += refused - past.refused;
      sum.feedback += feedback - past.feedback;
      tallies.push(latency);
      const kept = defaulted > 0 ? new Map(by) : past.defaults;
      next.set(latency, { predicted, cancelled, refused, feedback, defaults: kept });
    }
    this.applications = next;
    for (const [reason, count] of defaults) defaults.set(reason, rate(count));
    return {
      queries: {
        predicted: rate(sum.predicted),
        defaulted: rate(sum.defaulted),
        cancelled: rate(sum.cancelled),
        refused: rate(sum.refused),
        feedback: rate(sum.feedback),
      },
      latency: this.latency.take(tallies),
      defaults,
      applications,
      models: this.takeModels(traffic, rate),
    };
  }

  private takeModels(traffic: Traffic, rate: (count: number) => number): ModelFigures[] {
    const next: typeof this.models = new Map();
    const figures: ModelFigures[] = [];
    for (const { model, version, batches, inputs, latency } of traffic.models) {
      const before = this.models.get(latency);
      const ofBatches = batches - (before?.batches ?? 0);
      const ofInputs = inputs - (before?.inputs ?? 0);
      next.set(latency, { batches, inputs });
      if (ofBatches <= 0) continue;
      figures.push({ model, version, inputsPerSecond: rate(ofInputs), meanSize: ofInputs / ofBatches });
    }
    this.models = next;
    return figures;
  }
}

/** Percentiles of what a tally counted between two looks, or several with the same bounds together. */
export class LatencyReader {
  private seen = new Float64Array();

  /** null: nothing. A tally that is gone takes with it what it had counted. */
  take(tallies: readonly HistogramTally[]): LatencyView | null {
    const [first] = tallies as readonly (HistogramTally | undefined)[];
    if (first === undefined) {
      this.seen = new Float64Array();
      return null;
    }
    const { length } = first.counts;
    const sum = new Float64Array(length);
    for (const { counts } of tallies) for (let at = 0; at < length; at++) sum[at] += counts[at];
    const between = sum.map((count, at) => Math.max(0, count - (this.seen[at] ?? 0)));
    this.seen = sum;
    const total = between.reduce((all, count) => all + count, 0);
    if (total === 0) return null;
    const ms = (share: number): number => 1000 * quantile(first.bounds, between, share * total);
    return { p50Ms: ms(0.5), p99Ms: ms(0.99) };
  }
}

/** In seconds: between the bounds of where it lies, by how far. What lies above all of them is taken for the last. */
function quantile(bounds: readonly number[], counts: Float64Array, rank: number): number {
  let below = 0;
  for (let at = 0; at < bounds.length; at++) {
    const here = counts[at];
    if (here > 0 && below + here >= rank) {
      const from = at === 0 ? 0 : bounds[at - 1];
      return from + (bounds[at] - from) * Math.max(0, (rank - below) / here);
    }
    below += here;
  }
  return bounds.at(-1) ?? 0;
}
