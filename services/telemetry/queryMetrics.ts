import { ERROR_CATALOGUE, ERROR_CODES, type ErrorCode } from '../errors/index.js';
import type { FeedbackFate } from '../feedbackQueue/index.js';
import type { Answer, FeedbackOutcome, ModelVote, Query } from '../prediction/index.js';
import type { ApplicationRecord } from '../registry/index.js';
import { FINE_SECONDS, LATENCY_SECONDS, OBJECTIVE_SHARES } from './buckets.js';
import { HistogramTally } from './histogramTally.js';
import { labelText, type MetricFamily, type SampleWriter } from './metricFamily.js';
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

  /** @param labels of one key, without the application's. */
  write(to: SampleWriter, start: string, labels: (key: string) => Readonly<Record<string, string>>): void {
    for (const [key, count] of this.counts) to.value(`${start},${labelText(labels(key))}`, count);
  }
}

/** What one application's queries became: plain numbers on the query path. */
class ApplicationTally {
  readonly labels: string;
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
  ) {}

  onAnswer(query: Query, answer: Answer): void {
    const tally = this.tally(query.application);
    if (tally === undefined) return;
    if (answer.isDefault) tally.defaults.add(answer.defaultReason ?? '');
    else tally.predicted += 1;
    tally.latency.observe(answer.latencyNs / 1e9);
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
    return [
      {
        name: 'windjammer_queries_total',
        type: 'counter',
        unit: '',
        labels: ['application', 'outcome', 'reason'],
        help: 'Queries that ended, by what became of them: predicted; default, with its reason; rejected and error, with the code of the error; cancelled. Without an application: models that were asked by their name, of which what was not answered is an error',
        write: (to) => {
          for (const tally of this.tallies.values()) writeOutcomes(to, tally);
        },
      },
      this.histogram(
        'windjammer_query_latency_seconds',
        'seconds',
        'From the acceptance of a query to its answer, a default output among them',
        (tally) => tally.latency.coarse(LATENCY_SECONDS),
      ),
      this.histogram(
        'windjammer_query_objective_ratio',
        'ratio',
        'Latency of an answer in parts of its objective, or of the shorter one that the client asked for: up to 1 is in time',
        (tally) => tally.objectiveShare,
      ),
      {
        name: 'windjammer_application_objective_seconds',
        type: 'gauge',
        unit: 'seconds',
        labels: ['application'],
        help: 'Latency objective of an application',
        write: (to) => {
          for (const { name, latencyObjectiveUs } of this.applications()) {
            to.value(labelText({ application: name }), latencyObjectiveUs / 1e6);
          }
        },
      },
      {
        name: 'windjammer_requests_refused_total',
        type: 'counter',
        unit: '',
        labels: ['application', 'code'],
        help: 'Requests, messages and inputs of batches that were answered with an error; application is empty for unknown ones',
        write: (to) => {
          for (const [application, codes] of this.refused) {
            for (const [code, count] of codes) to.value(labelText({ application, code }), count);
          }
        },
      },
      {
        name: 'windjammer_late_predictions_total',
        type: 'counter',
        unit: '',
        labels: ['application', 'model', 'version'],
        help: 'Predictions that arrived after the deadline of their query; they fill the cache',
        write: (to) => {
          for (const { labels, late } of this.tallies.values()) {
            late.write(to, labels, (key) => ({ model: key.split(':')[0], version: key.split(':')[1] }));
          }
        },
      },
      {
        name: 'windjammer_feedback_total',
        type: 'counter',
        unit: '',
        labels: ['application', 'result', 'joined'],
        help: 'Feedback, by whether anything was learned and where the judged predictions came from',
        write: (to) => {
          for (const { labels, feedback } of this.tallies.values()) {
            feedback.write(to, labels, (key) => ({ result: key.split(':')[0], joined: key.split(':')[1] }));
          }
        },
      },
      {
        name: 'windjammer_feedback_outcomes_total',
        type: 'counter',
        unit: '',
        labels: ['application', 'outcome'],
        help: 'Feedback by way of Redis, by what became of it: learned; out_of_order, learned after what the same frontend accepted later; late, credits no model that is linked; duplicate, learned before; pinned, the state learns nothing; poisonous and failed, kept as failed; spooled, kept by this frontend until Redis is back. The frontend that learns counts',
        write: (to) => {
          for (const { labels, feedbackFates } of this.tallies.values()) {
            feedbackFates.write(to, labels, (outcome) => ({ outcome }));
          }
        },
      },
      {
        name: 'windjammer_selection_share',
        type: 'gauge',
        unit: 'ratio',
        labels: ['application', 'model'],
        help: 'Share of the queries of an application, or of the vote of its ensemble, that its policy gives to each model',
        write: (to) => {
          for (const [application, model, share] of this.shares())
            to.value(labelText({ application, model }), share);
        },
      },
    ];
  }

  private histogram(
    name: string,
    unit: MetricFamily['unit'],
    help: string,
    read: (tally: ApplicationTally) => HistogramTally,
  ): MetricFamily {
    return {
      name,
      type: 'histogram',
      unit,
      labels: ['application'],
      help,
      write: (to) => {
        for (const tally of this.tallies.values()) to.histogram(tally.labels, read(tally));
      },
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

function writeOutcomes(to: SampleWriter, tally: ApplicationTally): void {
  const { labels } = tally;
  to.value(`${labels},outcome="predicted",reason=""`, tally.predicted);
  tally.defaults.write(to, labels, (reason) => ({ outcome: 'default', reason }));
  tally.rejected.write(to, labels, (reason) => ({ outcome: 'rejected', reason }));
  tally.errors.write(to, labels, (reason) => ({ outcome: 'error', reason }));
  to.value(`${labels},outcome="cancelled",reason=""`, tally.cancelled);
}
