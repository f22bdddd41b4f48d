import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ErrorCode } from '../errors/index.js';
import type { Answer, FeedbackOutcome, Query } from '../prediction/index.js';

/** Half a millisecond to a minute: what a latency objective may be, around it densely. */
export const LATENCY_BUCKETS_SECONDS = [
  0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60,
];

/** What one application's queries became. Plain numbers on the query path; the counters take them over when scraped. */
class ApplicationTally {
  predicted = 0;
  cancelled = 0;
  readonly defaults = new Map<string, number>();
  readonly labels: { readonly application: string };

  constructor(application: string) {
    this.labels = { application };
  }
}

/** Metrics by application. Series come into being for applications that the engine knows, and go when one is deleted. */
export class QueryMetrics {
  private readonly tallies = new Map<string, ApplicationTally>();
  private readonly latency: Histogram<'application'>;
  private readonly refused: Counter<'application' | 'code'>;
  private readonly late: Counter<'application' | 'model' | 'version'>;
  private readonly feedback: Counter<'application' | 'result' | 'joined'>;

  constructor(
    registry: Registry,
    private readonly isRegistered: (application: string) => boolean,
    shares: () => Iterable<readonly [application: string, model: string, share: number]>,
  ) {
    const registers = [registry];
    const tallies = this.tallies;
    new Counter({
      name: 'windjammer_queries_total',
      help: 'Queries that ended, by what was answered; reason is set for default outputs',
      labelNames: ['application', 'outcome', 'reason'],
      registers,
      collect() {
        this.reset();
        for (const { labels, predicted, cancelled, defaults } of tallies.values()) {
          this.inc({ ...labels, outcome: 'predicted', reason: '' }, predicted);
          this.inc({ ...labels, outcome: 'cancelled', reason: '' }, cancelled);
          for (const [reason, count] of defaults) this.inc({ ...labels, outcome: 'default', reason }, count);
        }
      },
    });
    this.latency = new Histogram({
      name: 'windjammer_query_latency_seconds',
      help: 'From the acceptance of a query to its answer',
      labelNames: ['application'],
      buckets: LATENCY_BUCKETS_SECONDS,
      registers,
    });
    this.refused = new Counter({
      name: 'windjammer_requests_refused_total',
      help: 'Requests and inputs of batches that were answered with an error; application is empty for unknown ones',
      labelNames: ['application', 'code'],
      registers,
    });
    this.late = new Counter({
      name: 'windjammer_late_predictions_total',
      help: 'Predictions that arrived after the deadline of their query; they fill the cache',
      labelNames: ['application', 'model', 'version'],
      registers,
    });
    this.feedback = new Counter({
      name: 'windjammer_feedback_total',
      help: 'Feedback, by whether anything was learned and where the judged predictions came from',
      labelNames: ['application', 'result', 'joined'],
      registers,
    });
    new Gauge({
      name: 'windjammer_selection_share',
      help: 'Share of the queries of an application, or of the vote of its ensemble, that its policy gives to each model',
      labelNames: ['application', 'model'],
      registers,
      collect() {
        this.reset();
        for (const [application, model, share] of shares()) this.set({ application, model }, share);
      },
    });
  }

  onAnswer(query: Query, answer: Answer): void {
    const tally = this.tally(query.application);
    if (answer.isDefault) {
      const reason = answer.defaultReason ?? '';
      tally.defaults.set(reason, (tally.defaults.get(reason) ?? 0) + 1);
    } else tally.predicted += 1;
    this.latency.observe(tally.labels, answer.latencyNs / 1e9);
  }

  onCancel(query: Query): void {
    this.tally(query.application).cancelled += 1;
  }

  onLatePrediction(application: string, model: string, version: string): void {
    this.late.inc({ application, model, version });
  }

  onFeedback(application: string, outcome: FeedbackOutcome): void {
    if (!this.isRegistered(application)) return;
    const result = outcome.accepted ? 'learned' : 'refused';
    this.feedback.inc({ application, result, joined: outcome.joined });
  }

  onRefused(application: string | undefined, code: ErrorCode): void {
    this.refused.inc({ application: application ?? '', code });
  }

  /** Drops the series of an application that is gone. */
  forget(application: string): void {
    this.tallies.delete(application);
    for (const metric of [this.latency, this.refused, this.late, this.feedback] as const) {
      void removeSeries(metric, { application });
    }
  }

  private tally(application: string): ApplicationTally {
    let tally = this.tallies.get(application);
    if (tally === undefined) this.tallies.set(application, (tally = new ApplicationTally(application)));
    return tally;
  }
}

interface SeriesHolder {
  get(): Promise<{
    readonly values: readonly { readonly labels: Partial<Record<string, string | number>> }[];
  }>;
  remove(labels: Partial<Record<string, string | number>>): void;
}

/** Removes every series that has these labels, whatever its others are. */
export async function removeSeries(
  metric: SeriesHolder,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  const { values } = await metric.get();
  for (const series of values) {
    if (Object.entries(labels).every(([name, value]) => series.labels[name] === value)) {
      // A histogram's buckets show their bound as a label that is not one of the series.
      metric.remove(Object.fromEntries(Object.entries(series.labels).filter(([name]) => name !== 'le')));
    }
  }
}
