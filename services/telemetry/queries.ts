import { average, matching, mean, quantile, rate, sum, value, type Vector } from '../metrics/index.js';

/** A question that an operator has, as PromQL. */
export interface MetricQuery {
  readonly question: string;
  readonly promql: string;
}

/** Seconds of a rate. */
const RANGE = 300;
const VERSION = ['model', 'version'] as const;

function ask(question: string, { text }: Pick<Vector<never>, 'text'>): MetricQuery {
  return { question, promql: text };
}

/** The documentation shows them, and a test runs each against a Prometheus that scrapes a server. */
export const METRIC_QUERIES: readonly MetricQuery[] = [
  ask(
    'Share of the queries that got a prediction, by application: the objective is met where this is high enough',
    sum(['application'], rate('windjammer_queries_total', RANGE, { outcome: 'predicted' })).over(
      sum(
        ['application'],
        rate('windjammer_queries_total', RANGE, { outcome: matching('predicted|default|error') }),
      ),
    ),
  ),
  ask(
    'Share of the answers that came within their objective, default outputs among them: below 1 the server itself is late',
    // `le` in both ways of writing one: Prometheus 3 has 1.0.
    sum(
      ['application'],
      rate('windjammer_query_objective_ratio_bucket', RANGE, { le: matching('1(.0)?') }),
    ).over(sum(['application'], rate('windjammer_query_objective_ratio_count', RANGE))),
  ),
  ask(
    'Share of default outputs, by reason',
    sum(['application', 'reason'], rate('windjammer_queries_total', RANGE, { outcome: 'default' })).overEach(
      ['application'],
      sum(['application'], rate('windjammer_queries_total', RANGE)),
    ),
  ),
  ask(
    '99th percentile of the latency, in seconds',
    quantile(0.99, ['application'], 'windjammer_query_latency_seconds', RANGE),
  ),
  ask('Inputs that wait, by model version', sum(VERSION, value('windjammer_queue_depth'))),
  ask(
    'How busy the replicas of a model version are, 0 to 1: near 1 it needs another one',
    average(VERSION, rate('windjammer_replica_busy_seconds_total', RANGE)),
  ),
  ask('Inputs in a batch, on average', mean(VERSION, 'windjammer_batch_size', RANGE)),
  ask(
    'Share of the lookups that the cache spared a model, evaluations that were shared among them',
    sum(VERSION, rate('windjammer_cache_lookups_total', RANGE, { result: matching('hit|join') })).over(
      sum(VERSION, rate('windjammer_cache_lookups_total', RANGE)),
    ),
  ),
  ask(
    'Share of the inputs that a model failed on',
    sum(VERSION, rate('windjammer_predictions_total', RANGE, { outcome: 'ok' }))
      .over(sum(VERSION, rate('windjammer_predictions_total', RANGE)))
      .from(1),
  ),
  ask(
    'Replicas that are missing',
    sum(VERSION, value('windjammer_replicas_wanted')).minus(
      sum(VERSION, value('windjammer_replicas', { state: 'up' })),
    ),
  ),
  ask(
    'SM-time with a block on each simulated GPU, 0 to 1: of its own time, in which it may wait for the host',
    value('DCGM_FI_PROF_SM_ACTIVE'),
  ),
  ask('Power of the simulated GPUs in watts, by card', sum(['modelName'], value('DCGM_FI_DEV_POWER_USAGE'))),
];
