import { ERROR_CATALOGUE, ERROR_CODES, type ErrorCode } from '../errors/index.js';
import type { FeedbackFate } from '../feedbackQueue/index.js';
import type { Answer, FeedbackOutcome, ModelVote, Query } from '../prediction/index.js';
import type { ApplicationRecord } from '../registry/index.js';
import { FINE_SECONDS, LATENCY_SECONDS, OBJECTIVE_SHARES } from './buckets.js';
import { HistogramTally } from './histogramTally.js';
import { QUERY_METRICS } from '../metrics/index.js';
import {
  familiesOf,
  labelText,
  withLabels,
  type HistogramWriter,
  type LabelText,
  type MetricFamily,
  type ValueWriter,
} from './metricFamily.js';
import type { ApplicationTraffic } from './traffic.js';

/** Counts by something that takes few values. */
class Counts {
  private readonly counts = new Map<string, number>();

  get entries(): ReadonlyMap<string, number> {
    return this.counts;
  }

  get total(): number {
    let sum = 0;
    for (const count of this.counts.values()) sum += count;
    return sum;
  }

  add(key: string): void {
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
  }

  forget(key: string): void {
    this.counts.delete(key);
  }

  /** @param more labels of one key, beside the application's. */
  write<K extends string>(
    to: ValueWriter<'application' | K>,
    labels: LabelText<'application'>,
    more: (key: string) => Readonly<Record<K, string>>,
  ): void {
    for (const [key, count] of this.counts) to.value(withLabels(labels, more(key)), count);
  }
}

/** What one application's queries became: plain numbers on the query path. */
class ApplicationTally {
  readonly labels: LabelText<'application'>;
  predicted = 0;
  cancelled = 0;
  readonly defaults = new Counts();
  readonly rejected = new Counts();
  readonly errors = new Counts();
  readonly late = new Counts();
  readonly feedback = new Counts();
  readonly feedbackFates = new Counts();
  /** By many bounds, for percentiles; metrics have fewer. */
  readonly latency = new HistogramTally(FINE_SECONDS);
  readonly objectiveShare = new HistogramTally(OBJECTIVE_SHARES);

  constructor(application: string) {
    this.labels = labelText({ application });
  }
}

/** Stands for the application of queries that name a model; no application has this name. */
const NO_APPLICATION = '';

/** Default answers of strict queries are told to their client as errors; they have been counted as answers. */
const DEFAULTS_IN_STRICT: ReadonlySet<ErrorCode> = new Set(
  ERROR_CODES.filter((code) => code.startsWith('default_')),
);

/**
 * Metrics by application. Series come into being for applications that are registered, and go when one is deleted: what
 * ends after that is not counted, and one that is registered anew under the name begins at zero.
 */
export class QueryMetrics {
  private readonly tallies = new Map<string, ApplicationTally>();
  /** By application, '' for unknown ones, and code. */
  private readonly refused = new Map<string, Map<string, number>>();

  constructor(
    private readonly application: (name: string) => ApplicationRecord | undefined,
    private readonly applications: () => readonly ApplicationRecord[],
    private readonly shares: () => Iterable<readonly [application: string, model: string, share: number]>,
    private readonly nowMs: () => number,
  ) {}

  onAnswer(query: Query, answer: Answer): void {
    const tally = this.tally(query.application);
    if (tally === undefined) return;
    if (answer.isDefault) tally.defaults.add(answer.defaultReason ?? '');
    else tally.predicted += 1;
    const seconds = answer.latencyNs / 1e9;
    tally.latency.observe(seconds);
    if (query.trace !== undefined) {
      const { traceId } = query.trace;
      tally.latency.keep({ traceId, value: seconds, atSeconds: this.nowMs() / 1000 });
    }
    const { latencyObjectiveUs = 0 } = this.application(query.application) ?? {};
    const objectiveNs = Math.min(query.budgetNs ?? Infinity, latencyObjectiveUs * 1000);
    if (objectiveNs > 0) tally.objectiveShare.observe(answer.latencyNs / objectiveNs);
  }

  /** Of a model that was asked by its name, past every application. */
  onModelCall(vote: ModelVote | undefined, latencyNs: number, budgetNs: number): void {
    let tally = this.tallies.get(NO_APPLICATION);
    if (tally === undefined) {
      tally = new ApplicationTally(NO_APPLICATION);
      this.tallies.set(NO_APPLICATION, tally);
    }
    if (vote === undefined) {
      tally.cancelled += 1;
      return;
    }
    if (vote.missing === undefined) tally.predicted += 1;
    else tally.errors.add(vote.missing);
    tally.latency.observe(latencyNs / 1e9);
    tally.objectiveShare.observe(latencyNs / budgetNs);
  }

  onCancel(query: Query): void {
    const tally = this.tally(query.application);
    if (tally !== undefined) tally.cancelled += 1;
  }

  onLatePrediction(application: string, model: string, version: string): void {
    this.tally(application)?.late.add(`${model}:${version}`);
  }

  onFeedback(application: string, outcome: FeedbackOutcome): void {
    this.tally(application)?.feedback.add(`${outcome.accepted ? 'learned' : 'refused'}:${outcome.joined}`);
  }

  onFeedbackFate(application: string, fate: FeedbackFate): void {
    this.tally(application)?.feedbackFates.add(fate);
  }

  /** @param application only one that is registered. @param isQuery an input that was to be predicted. */
  onRefused(application: string | undefined, code: ErrorCode, isQuery: boolean): void {
    const tally = application === undefined ? undefined : this.tally(application);
    // One that is gone by now counts as unknown, so that no series comes back.
    const name = tally === undefined ? '' : (application ?? '');
    let codes = this.refused.get(name);
    if (codes === undefined) this.refused.set(name, (codes = new Map<string, number>()));
    codes.set(code, (codes.get(code) ?? 0) + 1);
    if (tally === undefined || !isQuery || DEFAULTS_IN_STRICT.has(code)) return;
    if (ERROR_CATALOGUE[code].status === 500) tally.errors.add(code);
    else tally.rejected.add(code);
  }

  /** Drops the series of an application that is gone. */
  forget(application: string): void {
    this.tallies.delete(application);
    this.refused.delete(application);
  }

  forgetModel(model: string, version: string): void {
    for (const { late } of this.tallies.values()) late.forget(`${model}:${version}`);
  }

  /** Counts since each application is known; '' stands for models that were asked by their name. */
  *traffic(): Iterable<ApplicationTraffic> {
    for (const [name, tally] of this.tallies) {
      const { predicted, cancelled, defaults, rejected, errors, feedback, latency } = tally;
      const refused = rejected.total + errors.total;
      yield {
        name,
        predicted,
        cancelled,
        refused,
        defaults: defaults.entries,
        feedback: feedback.total,
        latency,
      };
    }
  }

  /** Requests for applications that nobody knows. */
  refusedUnknown(): number {
    let sum = 0;
    for (const count of this.refused.get(NO_APPLICATION)?.values() ?? []) sum += count;
    return sum;
  }

  families(): readonly MetricFamily[] {
    return familiesOf(QUERY_METRICS, {
      windjammer_queries_total: (to) => {
        for (const tally of this.tallies.values()) writeOutcomes(to, tally);
      },
      windjammer_query_latency_seconds: this.histogram((tally) => tally.latency.coarse(LATENCY_SECONDS)),
      windjammer_query_objective_ratio: this.histogram((tally) => tally.objectiveShare),
      windjammer_application_objective_seconds: (to) => {
        for (const { name, latencyObjectiveUs } of this.applications()) {
          to.value(labelText({ application: name }), latencyObjectiveUs / 1e6);
        }
      },
      windjammer_requests_refused_total: (to) => {
        for (const [application, codes] of this.refused) {
          for (const [code, count] of codes) to.value(labelText({ application, code }), count);
        }
      },
      windjammer_late_predictions_total: (to) => {
        for (const { labels, late } of this.tallies.values()) {
          late.write(to, labels, (key) => ({ model: key.split(':')[0], version: key.split(':')[1] }));
        }
      },
      windjammer_feedback_total: (to) => {
        for (const { labels, feedback } of this.tallies.values()) {
          feedback.write(to, labels, (key) => ({ result: key.split(':')[0], joined: key.split(':')[1] }));
        }
      },
      windjammer_feedback_outcomes_total: (to) => {
        for (const { labels, feedbackFates } of this.tallies.values()) {
          feedbackFates.write(to, labels, (outcome) => ({ outcome }));
        }
      },
      windjammer_selection_share: (to) => {
        for (const [application, model, share] of this.shares())
          to.value(labelText({ application, model }), share);
      },
    });
  }

  private histogram(read: (tally: ApplicationTally) => HistogramTally) {
    return (to: HistogramWriter<'application'>): void => {
      for (const tally of this.tallies.values()) to.histogram(tally.labels, read(tally));
    };
  }

  private tally(application: string): ApplicationTally | undefined {
    let tally = this.tallies.get(application);
    if (tally !== undefined || this.application(application) === undefined) return tally;
    tally = new ApplicationTally(application);
    this.tallies.set(application, tally);
    return tally;
  }
}

function writeOutcomes(to: ValueWriter<'application' | 'outcome' | 'reason'>, tally: ApplicationTally): void {
  const { labels } = tally;
  to.value(withLabels(labels, { outcome: 'predicted', reason: '' }), tally.predicted);
  tally.defaults.write(to, labels, (reason) => ({ outcome: 'default', reason }));
  tally.rejected.write(to, labels, (reason) => ({ outcome: 'rejected', reason }));
  tally.errors.write(to, labels, (reason) => ({ outcome: 'error', reason }));
  to.value(withLabels(labels, { outcome: 'cancelled', reason: '' }), tally.cancelled);
}
