import { counter, gauge, histogram } from '../metric.js';

const REPLICA = ['model', 'version', 'replica'] as const;

/** By application. */
export const QUERY_METRICS = {
  windjammer_queries_total: counter(
    ['application', 'outcome', 'reason'],
    'Queries that ended, by what became of them: predicted; default, with its reason; rejected and error, with the code of the error; cancelled. Without an application: models that were asked by their name, of which what was not answered is an error',
  ),
  windjammer_query_latency_seconds: histogram(
    ['application'],
    'From the acceptance of a query to its answer, a default output among them',
    'seconds',
  ),
  windjammer_query_objective_ratio: histogram(
    ['application'],
    'Latency of an answer in parts of its objective, or of the shorter one that the client asked for: up to 1 is in time',
    'ratio',
  ),
  windjammer_application_objective_seconds: gauge(
    ['application'],
    'Latency objective of an application',
    'seconds',
  ),
  windjammer_requests_refused_total: counter(
    ['application', 'code'],
    'Requests, messages and inputs of batches that were answered with an error; application is empty for unknown ones',
  ),
  windjammer_late_predictions_total: counter(
    ['application', 'model', 'version'],
    'Predictions that arrived after the deadline of their query; they fill the cache',
  ),
  windjammer_feedback_total: counter(
    ['application', 'result', 'joined'],
    'Feedback, by whether anything was learned and where the judged predictions came from',
  ),
  windjammer_feedback_outcomes_total: counter(
    ['application', 'outcome'],
    'Feedback by way of Redis, by what became of it: learned; out_of_order, learned after what the same frontend accepted later; late, credits no model that is linked; duplicate, learned before; pinned, the state learns nothing; poisonous and failed, kept as failed; spooled, kept by this frontend until Redis is back. The frontend that learns counts',
  ),
  windjammer_selection_share: gauge(
    ['application', 'model'],
    'Share of the queries of an application, or of the vote of its ensemble, that its policy gives to each model',
    'ratio',
  ),
} as const;

/** Of applications whose policy, or loss, is from a file. */
export const POLICY_FILE_METRICS = {
  windjammer_policy_file_up: gauge(
    ['application'],
    'Whether the process of a policy file answers: 0 while it starts again, and queries go to the first model',
  ),
  windjammer_policy_file_restarts_total: counter(
    ['application'],
    'Times that the process of a policy file was started again',
  ),
  windjammer_policy_file_faults_total: counter(
    ['application', 'kind'],
    'Failures of a policy file: threw; bad_answer; late; stuck, it was ended for it; ended, of memory mostly; unloadable',
  ),
  windjammer_policy_fallbacks_total: counter(
    ['application'],
    'Queries for which the policy from a file could not be followed: the first model was asked, or answers',
  ),
} as const;

/** By model, version and replica. */
export const MODEL_METRICS = {
  windjammer_predictions_total: counter(
    ['model', 'version', 'replica', 'outcome'],
    'Inputs that a replica evaluated: ok or failed',
  ),
  windjammer_batch_size: histogram(REPLICA, 'Inputs in a batch'),
  windjammer_batch_queue_seconds: histogram(
    REPLICA,
    'The longest wait in the queue of the replica among the inputs of a batch',
    'seconds',
  ),
  windjammer_batch_service_seconds: histogram(
    REPLICA,
    'A batch in its container, in the simulated time of its GPU node',
    'seconds',
  ),
  windjammer_batch_round_trip_seconds: histogram(
    REPLICA,
    'From sending a batch to its results, as the frontend saw it',
    'seconds',
  ),
  windjammer_replica_losses_total: counter(
    REPLICA,
    'Times that a replica was lost or taken out of use with work in hand',
  ),
  windjammer_requeued_inputs_total: counter(REPLICA, 'Inputs of a lost replica that others got'),
  windjammer_protocol_errors_total: counter(REPLICA, 'Frames of a container that broke the protocol'),
  windjammer_replica_up: gauge(REPLICA, 'The replica takes batches'),
  windjammer_queue_depth: gauge(REPLICA, 'Inputs that wait for the replica'),
  windjammer_in_flight_inputs: gauge(REPLICA, 'Inputs that the replica works on'),
  windjammer_in_flight_batches: gauge(REPLICA, 'Batches that the replica works on'),
  windjammer_replica_credits: gauge(REPLICA, 'Batches that the replica takes beside those in flight'),
  windjammer_batch_limit: gauge(REPLICA, 'The largest batch that is sent now'),
  windjammer_replica_busy_seconds_total: counter(
    REPLICA,
    'Time with a batch in flight since the replica came; its rate is how busy it is',
    'seconds',
  ),
} as const;

/** Of the learned states of contexts. */
export const CONTEXT_METRICS = {
  windjammer_contexts_held: gauge(['application'], 'Contexts whose learned state is in memory'),
  windjammer_context_bytes: gauge(['application'], 'Memory that they take, about', 'bytes'),
  windjammer_contexts_kept: gauge(
    ['application'],
    'Contexts that the store has learned states of, as far as they have been counted',
  ),
  windjammer_context_reads_total: counter(
    ['application'],
    'Contexts that were looked for in the store, since they were not in memory',
  ),
  windjammer_context_evictions_total: counter(
    ['application'],
    'Contexts that made room in memory for others',
  ),
  windjammer_contexts_forgotten_total: counter(
    ['application', 'reason'],
    'Contexts whose state was removed from the store: expired, not used for too long; crowded_out, beyond the number that is kept',
  ),
} as const;

/** Of the prediction cache. */
export const CACHE_METRICS = {
  windjammer_cache_lookups_total: counter(
    ['model', 'version', 'result'],
    'Lookups in the prediction cache: hit, join (an evaluation under way is shared) or miss; together they are all predictions that were asked for',
  ),
  windjammer_evaluations_total: counter(
    ['model', 'version', 'outcome'],
    'What became of cache misses: predicted, model_error, expired in the queue, overload (not queued), no_replica, invalid_input (the container takes no such input), cancelled',
  ),
  windjammer_cache_evictions_total: counter(['model', 'version'], 'Predictions that made room for others'),
  windjammer_cache_entries: gauge([], 'Predictions in the cache'),
  windjammer_cache_bytes: gauge([], 'Bytes that they take', 'bytes'),
  windjammer_cache_limit_bytes: gauge([], 'Bytes that they may take', 'bytes'),
  windjammer_cache_pending: gauge([], 'Evaluations under way'),
} as const;

/** Of replicas and GPU nodes that this server starts. */
export const DEPLOYMENT_METRICS = {
  windjammer_replicas_wanted: gauge(
    ['model', 'version'],
    'Replicas that the version is to have, by its owner or the autoscaler',
  ),
  windjammer_canary_share: gauge(
    ['model', 'version'],
    'Share of the queries of its model that a version gets while it is tried beside another; 0 until a replica of it is up',
    'ratio',
  ),
  windjammer_canary_state: gauge(
    ['model', 'version', 'state'],
    'Of the last version of a model that was tried beside another: 1 for what it is, ramping, promoted, withdrawn or aborted, 0 for the others',
  ),
  windjammer_replicas: gauge(
    ['model', 'version', 'state'],
    'Replicas that this server starts: starting, warming (answering its warm-up), up, draining, down (lost, waiting for its next start)',
  ),
  windjammer_replica_restarts_total: counter(REPLICA, 'Starts of a replica after its first'),
  windjammer_gpu_node_dilation: gauge(
    ['node'],
    'Host time a GPU node takes for its simulated time; above 1.2 its timing means nothing',
    'ratio',
  ),
  windjammer_gpu_node_replicas: gauge(['node'], 'Replicas on a GPU node'),
  windjammer_gpu_node_busy_seconds_total: counter(
    ['node'],
    'Host time that a GPU node had a batch in flight',
    'seconds',
  ),
  windjammer_gpu_node_busy_simulated_seconds_total: counter(
    ['node'],
    'The same in its simulated time',
    'seconds',
  ),
  windjammer_gpu_node_clock_lag_seconds: gauge(
    ['node'],
    'The most that a simulated event of a GPU node came late on the host',
    'seconds',
  ),
} as const;
