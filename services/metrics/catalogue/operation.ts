import { counter, gauge } from '../metric.js';

/** Who is connected, what is under way, and who was turned away at the door. */
export const CONNECTION_METRICS = {
  windjammer_queries_in_flight: gauge([], 'Queries without an answer yet'),
  windjammer_websockets: gauge([], 'WebSocket connections that are open'),
  windjammer_connections: gauge(['interface'], 'Connections that are open, WebSockets among them'),
  windjammer_connections_refused_total: counter(
    ['interface'],
    'Connections over the limit, told 503 or dropped',
  ),
  windjammer_buffered_bytes: gauge([], 'Memory of bodies and messages under way, of all interfaces', 'bytes'),
  windjammer_bodies_refused_total: counter(
    ['reason'],
    'Bodies and messages not taken for want of memory: no room, or stalled while others needed it',
  ),
  windjammer_certificate_end_timestamp_seconds: gauge(
    ['interface'],
    'When the certificate of an interface ends, in seconds since 1970',
    'seconds',
  ),
  windjammer_access_refused_total: counter(
    ['interface', 'reason'],
    'Requests, handshakes and messages turned away for want of a key, by what was wrong',
  ),
} as const;

/** Of the store. */
export const STORE_METRICS = {
  windjammer_data_directory_free_bytes: gauge(
    [],
    "Room on the disk of the data directory, of what the server's user may have",
    'bytes',
  ),
  windjammer_data_directory_size_bytes: gauge([], 'Size of that disk', 'bytes'),
  windjammer_store_failing: gauge(
    ['cause'],
    'Whether the store (data directory or Redis) keeps nothing at present, by what keeps it from that: 1 or 0',
  ),
  windjammer_state_writes_refused_total: counter(
    [],
    'Times that learned weights could not be written; they stay in memory and are written later',
  ),
} as const;

/** Of a store that several servers share. */
export const SHARED_STORE_METRICS = {
  windjammer_store_lag_seconds: gauge(
    [],
    'How long ago this frontend was last known to have every change of the shared store; 0 while it follows',
    'seconds',
  ),
  windjammer_store_writes_in_flight: gauge([], 'Writes to the shared store whose outcome is not known yet'),
  windjammer_store_loads_total: counter(
    [],
    'Times that all of the shared store was loaded: once at the start, and after each gap in its changes',
  ),
} as const;

/** Of feedback on its way through Redis. */
export const FEEDBACK_QUEUE_METRICS = {
  windjammer_feedback_queue_jobs: gauge(
    ['state'],
    'Feedback in Redis that is not learned yet: waiting, active (being learned), delayed (tried again later), failed (kept for `windjammer queue`); of all frontends together',
  ),
  windjammer_feedback_queue_lag_seconds: gauge(
    [],
    'How long the oldest feedback in Redis has waited to be learned',
    'seconds',
  ),
  windjammer_feedback_spooled: gauge([], 'Feedback that this frontend keeps until Redis is back'),
  windjammer_feedback_spooled_bytes: gauge([], 'Bytes that it takes', 'bytes'),
  windjammer_feedback_spool_limit_bytes: gauge(
    [],
    'Bytes that it may take; 0 without a data directory',
    'bytes',
  ),
} as const;

/** Of nodes in other processes, and the other frontends. */
export const CLUSTER_METRICS = {
  windjammer_node_connected: gauge(
    ['node'],
    'Whether this frontend has a connection to a node in another process: 1 or 0',
  ),
  windjammer_node_round_trip_seconds: gauge(
    ['node'],
    'How long the last ping of this frontend to the node, and its answer, took; two a second',
    'seconds',
  ),
  windjammer_node_alive: gauge(
    ['node'],
    'Whether the cluster hears of the node: 1 or 0; nodes that were lost are listed for an hour',
  ),
  windjammer_node_last_word_seconds: gauge(
    ['node'],
    'How long ago the cluster heard of the node; while Redis is away that grows for all',
    'seconds',
  ),
  windjammer_node_cordoned: gauge(['node'], 'Whether the node is drained, and gets no replicas: 1 or 0'),
  windjammer_node_replicas_placed: gauge(
    ['node'],
    'Replicas that are to run on the node; those that do are windjammer_gpu_node_replicas',
  ),
  windjammer_frontend_places: gauge(
    ['frontend'],
    'Whether a frontend of the cluster says which node runs which replica: one of them does, 1 or 0',
  ),
  windjammer_frontend_last_word_seconds: gauge(
    ['frontend'],
    'How long ago the cluster heard of a frontend that is alive',
    'seconds',
  ),
  windjammer_cluster_members: gauge(
    ['kind', 'state'],
    'Frontends and nodes of the cluster, alive or away; those that were lost are counted for an hour',
  ),
} as const;

/** Of batch jobs. */
export const JOB_METRICS = {
  windjammer_jobs: gauge(
    ['state'],
    'Batch jobs that there are: running, done, cancelled, of all frontends together where they share a store; spooled, which this frontend keeps until Redis takes them; unreadable, whose files are damaged',
  ),
  windjammer_job_lines_pending: gauge(
    [],
    'Lines of running batch jobs without an answer, of all frontends together where they share a store',
  ),
  windjammer_job_lag_seconds: gauge(
    [],
    'The longest time for which a running batch job has got no results',
    'seconds',
  ),
  windjammer_job_lines_total: counter(
    ['outcome'],
    'Lines of batch jobs whose answer this frontend has brought: answered, or failed (it is an error)',
  ),
} as const;
