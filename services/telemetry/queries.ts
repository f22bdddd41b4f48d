/** A question that an operator has, as PromQL. */
export interface MetricQuery {
  readonly question: string;
  readonly promql: string;
}

/**
 * The documentation shows them, and a test runs each against a Prometheus that scrapes a server. `le` is matched in both
 * ways of writing one: Prometheus 3 has 1.0.
 */
export const METRIC_QUERIES: readonly MetricQuery[] = [
  {
    question:
      'Share of the queries that got a prediction, by application: the objective is met where this is high enough',
    promql:
      'sum by (application) (rate(windjammer_queries_total{outcome="predicted"}[5m])) / sum by (application) (rate(windjammer_queries_total{outcome=~"predicted|default|error"}[5m]))',
  },
  {
    question:
      'Share of the answers that came within their objective, default outputs among them: below 1 the server itself is late',
    promql:
      'sum by (application) (rate(windjammer_query_objective_ratio_bucket{le=~"1(.0)?"}[5m])) / sum by (application) (rate(windjammer_query_objective_ratio_count[5m]))',
  },
  {
    question: 'Share of default outputs, by reason',
    promql:
      'sum by (application, reason) (rate(windjammer_queries_total{outcome="default"}[5m])) / on (application) group_left () sum by (application) (rate(windjammer_queries_total[5m]))',
  },
  {
    question: '99th percentile of the latency, in seconds',
    promql:
      'histogram_quantile(0.99, sum by (application, le) (rate(windjammer_query_latency_seconds_bucket[5m])))',
  },
  {
    question: 'Inputs that wait, by model version',
    promql: 'sum by (model, version) (windjammer_queue_depth)',
  },
  {
    question: 'How busy the replicas of a model version are, 0 to 1: near 1 it needs another one',
    promql: 'avg by (model, version) (rate(windjammer_replica_busy_seconds_total[5m]))',
  },
  {
    question: 'Inputs in a batch, on average',
    promql:
      'sum by (model, version) (rate(windjammer_batch_size_sum[5m])) / sum by (model, version) (rate(windjammer_batch_size_count[5m]))',
  },
  {
    question: 'Share of the lookups that the cache spared a model, evaluations that were shared among them',
    promql:
      'sum by (model, version) (rate(windjammer_cache_lookups_total{result=~"hit|join"}[5m])) / sum by (model, version) (rate(windjammer_cache_lookups_total[5m]))',
  },
  {
    question: 'Share of the inputs that a model failed on',
    promql:
      '1 - sum by (model, version) (rate(windjammer_predictions_total{outcome="ok"}[5m])) / sum by (model, version) (rate(windjammer_predictions_total[5m]))',
  },
  {
    question: 'Replicas that are missing',
    promql:
      'windjammer_replicas_wanted - on (model, version) group_left () sum by (model, version) (windjammer_replicas{state="up"})',
  },
  {
    question:
      'SM-time with a block on each simulated GPU, 0 to 1: of its own time, in which it may wait for the host',
    promql: 'DCGM_FI_PROF_SM_ACTIVE',
  },
  {
    question: 'Power of the simulated GPUs in watts, by card',
    promql: 'sum by (modelName) (DCGM_FI_DEV_POWER_USAGE)',
  },
];
