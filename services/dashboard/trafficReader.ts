import type { ApplicationTraffic, HistogramTally, ModelTraffic, Traffic } from '../telemetry/index.js';
import type { LatencyView, QueryRates } from './feedFrame.js';

/** What happened to one application's queries between two looks. */
export interface ApplicationFigures {
  readonly answersPerSecond: number;
  readonly latency: LatencyView | null;
}

/** The batches of one model version between two looks. */
export interface ModelFigures {
  readonly model: string;
  readonly version: string;
  readonly inputsPerSecond: number;
  readonly meanSize: number;
  readonly latency: LatencyView | null;
}

export interface TrafficFigures {
  readonly queries: QueryRates;
  readonly latency: LatencyView | null;
  /** Default outputs a second, by reason. */
  readonly defaults: ReadonlyMap<string, number>;
  /** Those that were asked meanwhile; '' for models that were asked by their name. */
  readonly applications: ReadonlyMap<string, ApplicationFigures>;
  /** Those that had batches meanwhile. */
  readonly models: readonly ModelFigures[];
}

interface Seen<T> {
  readonly figures: T;
  readonly counts: Float64Array;
}

type Plain = Pick<ApplicationTraffic, 'predicted' | 'cancelled' | 'refused' | 'feedback' | 'defaults'>;
const NOTHING: Plain = { predicted: 0, cancelled: 0, refused: 0, feedback: 0, defaults: new Map() };

/**
 * What happened between two looks at counts that go on anyhow: whoever looks costs the query path nothing. Whatever is known
 * of what was counted is kept with the tally itself: one that is new under an old name begins at zero.
 */
export class TrafficReader {
  private applications = new Map<HistogramTally, Seen<Plain>>();
  private models = new Map<HistogramTally, Seen<Pick<ModelTraffic, 'batches' | 'inputs'>>>();
  private refusedUnknown = 0;

  /** Begins with what has been counted by now. */
  constructor(private readonly read: () => Traffic) {
    this.take(0);
  }

  /** Since the last look. Rates over no time are 0. */
  take(seconds: number): TrafficFigures {
    const rate = (count: number): number => (seconds > 0 ? Math.max(0, count) / seconds : 0);
    const traffic = this.read();
    const refused = traffic.refusedUnknown - this.refusedUnknown;
    this.refusedUnknown = traffic.refusedUnknown;
    const sum = { predicted: 0, defaulted: 0, cancelled: 0, refused: Math.max(0, refused), feedback: 0 };
    const defaults = new Map<string, number>();
    const applications = new Map<string, ApplicationFigures>();
    const all = new LatencySum();
    const nextApplications: typeof this.applications = new Map();
    for (const of of traffic.applications) {
      const before = this.applications.get(of.latency);
      const { predicted, cancelled, refused: ofRefused, feedback } = of;
      const past = before?.figures ?? NOTHING;
      let defaulted = 0;
      for (const [reason, count] of of.defaults) {
        const more = count - (past.defaults.get(reason) ?? 0);
        if (more <= 0) continue;
        defaulted += more;
        defaults.set(reason, (defaults.get(reason) ?? 0) + more);
      }
      const answers = predicted - past.predicted + defaulted;
      sum.predicted += predicted - past.predicted;
      sum.defaulted += defaulted;
      sum.cancelled += cancelled - past.cancelled;
      sum.refused += ofRefused - past.refused;
      sum.feedback += feedback - past.feedback;
      const kept = { predicted, cancelled, refused: ofRefused, feedback, defaults: new Map(of.defaults) };
      if (answers === 0) {
        nextApplications.set(of.latency, { figures: kept, counts: before?.counts ?? copyOf(of.latency) });
        continue;
      }
      const between = new LatencySum();
      between.add(of.latency, before?.counts);
      all.add(of.latency, before?.counts);
      applications.set(of.name, { answersPerSecond: rate(answers), latency: between.view() });
      nextApplications.set(of.latency, { figures: kept, counts: copyOf(of.latency) });
    }
    this.applications = nextApplications;
    for (const [reason, count] of defaults) defaults.set(reason, rate(count));
    return {
      queries: {
        predicted: rate(sum.predicted),
        defaulted: rate(sum.defaulted),
        cancelled: rate(sum.cancelled),
        refused: rate(sum.refused),
        feedback: rate(sum.feedback),
      },
      latency: all.view(),
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
      const ofBatches = batches - (before?.figures.batches ?? 0);
      const ofInputs = inputs - (before?.figures.inputs ?? 0);
      if (ofBatches === 0 && before !== undefined) {
        next.set(latency, before);
        continue;
      }
      next.set(latency, { figures: { batches, inputs }, counts: copyOf(latency) });
      if (ofBatches === 0) continue;
      const between = new LatencySum();
      between.add(latency, before?.counts);
      const meanSize = ofInputs / ofBatches;
      figures.push({
        model,
        version,
        inputsPerSecond: rate(ofInputs),
        meanSize,
        latency: between.view(),
      });
    }
    this.models = next;
    return figures;
  }
}

function copyOf({ counts }: HistogramTally): Float64Array {
  return Float64Array.from(counts);
}

/** Latencies of one tally, or of several with the same bounds, since their counts were copied. */
class LatencySum {
  private counts: Float64Array | undefined;
  private bounds: readonly number[] = [];

  add({ counts, bounds }: HistogramTally, before: Float64Array | undefined): void {
    this.bounds = bounds;
    const sum = (this.counts ??= new Float64Array(counts.length));
    for (let at = 0; at < counts.length; at++) sum[at] += counts[at] - (before?.[at] ?? 0);
  }

  view(): LatencyView | null {
    const total = this.counts?.reduce((sum, count) => sum + count, 0) ?? 0;
    if (!(total > 0)) return null;
    return { p50Ms: 1000 * this.quantile(0.5 * total), p99Ms: 1000 * this.quantile(0.99 * total) };
  }

  /** In seconds: between the bounds of where it lies, by how far. What lies above all of them is taken for the last. */
  private quantile(rank: number): number {
    const { bounds, counts = new Float64Array() } = this;
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
}
