/**
 * Types of `windjammer/client`: clients of a running server in TypeScript. Stands alone, so that a program can be compiled without the rest;
 * the type checker holds it to the client (clientModule.test.ts).
 */

export type InputType = 'integers' | 'bytes' | 'floats' | 'doubles' | 'strings';
export type LaunchClass = 'critical' | 'standard' | 'bestEffort';
export type Scope = 'predict' | 'feedback' | 'metrics' | 'admin';

/** Why a call failed. `code` is stable and meant for programs. */
export abstract class ClientError extends Error {
  abstract readonly code: string;
}

/** The server answered with an error of its catalogue (docs/reference/errors.md). */
export class RefusedError extends ClientError {
  readonly name: 'RefusedError';
  readonly code: string;
  /** Of HTTP, also for a refusal on a WebSocket. */
  readonly status: number;
  /** The part of the request at fault. */
  readonly field?: string | undefined;
  /** When another try is worth it, where the server knows. */
  readonly retryAfterMs?: number | undefined;
  constructor(code: string, status: number, message: string, field?: string, retryAfterMs?: number);
}

/** No connection, or one that broke before the answer came: whether the request was taken is unknown. */
export class UnreachableError extends ClientError {
  readonly name: 'UnreachableError';
  readonly code: 'unreachable';
}

/** The server's certificate is not trusted, or the server does not speak TLS as the client does. */
export class SecurityError extends ClientError {
  readonly name: 'SecurityError';
  readonly code: 'insecure';
}

/** No answer within the client's time limit. */
export class TimeoutError extends ClientError {
  readonly name: 'TimeoutError';
  readonly code: 'timeout';
}

/** The answer is not what this server would say: something else listens there. */
export class UnexpectedAnswerError extends ClientError {
  readonly name: 'UnexpectedAnswerError';
  readonly code: 'unexpected_answer';
}

/** Why an answer is the application's default output. */
export type DefaultReason =
  /** No model is linked to the application. */
  | 'no_linked_model'
  /** Models are linked, none has a replica that is up. */
  | 'no_replica'
  /** No prediction arrived by the deadline. */
  | 'deadline'
  /** Every asked model failed on this input. */
  | 'model_error'
  /**
   * The queues are full, or too long for an answer by the deadline, or the application has as many queries in flight as it
   * may: answered at once.
   */
  | 'overload'
  /** What arrived did not agree well enough. */
  | 'low_confidence';

/**
 * An input: numbers for `doubles`, `floats` and `integers`, a text for `strings`, and bytes for `bytes`. Over HTTP and in JSON
 * messages typed arrays are sent as numbers, bytes as base64.
 */
export type ClientInput = string | readonly number[] | Float64Array | Float32Array | Int32Array | Uint8Array;

export interface CallOptions {
  /** Gives the call up; a query that nobody waits for is withdrawn. Rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Beyond it the call rejects with a TimeoutError. */
  readonly timeoutMs?: number | undefined;
}

export interface PredictOptions extends CallOptions {
  /** Selection context: what one user's feedback taught is applied to that user. */
  readonly context?: string | undefined;
  readonly version?: string | undefined;
  /** Shorter than the application's objective. */
  readonly objectiveUs?: number | undefined;
  /** When the server must have answered, with the default output or, when strict, an error. */
  readonly deadlineMs?: number | undefined;
  /** An error in place of a default output; as the application says unless given. */
  readonly strict?: boolean | undefined;
  /** 1 (most urgent) to 5; 3 unless given. */
  readonly priority?: number | undefined;
  /**
   * How long the kernels that compute it may be made to wait by others on their GPU: the application's class unless given, which
   * is also the highest.
   */
  readonly launchClass?: LaunchClass | undefined;
}

export interface Prediction {
  /** Names the query in feedback. */
  readonly queryId: string;
  /** Any JSON value. An integer that would be another one as a number is a bigint. */
  readonly output: unknown;
  readonly isDefault: boolean;
  readonly defaultReason?: DefaultReason | undefined;
  /** Share of the asked models that agree with the output, 0 to 1. */
  readonly confidence: number;
  readonly cached: boolean;
  readonly models: readonly { readonly name: string; readonly version: string; readonly cached: boolean }[];
}

/** One of `queryId` and `input`. */
export interface Feedback {
  readonly queryId?: string | undefined;
  readonly input?: ClientInput | undefined;
  /** The true output. */
  readonly label: string | number | bigint;
  /** From 0 to 1, in place of right or wrong. */
  readonly loss?: number | undefined;
  /** Your own name for it: sent again under the same one, it is learned from once. 1 to 128 characters. */
  readonly idempotencyKey?: string | undefined;
  readonly context?: string | undefined;
}

export interface FeedbackResult {
  readonly joined: 'query' | 'cache' | 'evaluated' | 'queued' | 'repeated' | 'pinned' | 'none';
  readonly durable: boolean;
}

/** How a client shows who it is, and whom it trusts. */
export interface ConnectionOptions {
  /** Shown with every request, where the server requires one. */
  readonly apiKey?: string | undefined;
  /** PEM of authorities whose certificates are trusted, in place of the well-known ones. */
  readonly ca?: string | undefined;
  /** PEM of the client's own certificate and its key, where the server asks for one. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** Fields are those of `POST /admin/add_app` (docs/reference/rest.md). */
export interface AddApplicationFields {
  readonly name: string;
  readonly input_type: InputType;
  readonly default_output: string;
  readonly latency_slo_micros: number;
  readonly max_in_flight?: number | undefined;
  readonly policy?: { readonly name: string; readonly parameters?: unknown } | undefined;
  readonly strict?: boolean | undefined;
  readonly launch_class?: LaunchClass | undefined;
}

/** Of `POST /admin/add_model`. */
export interface AddModelFields {
  readonly input_type: InputType;
  readonly container_name: string;
  readonly model_name: string;
  readonly model_version: string;
  readonly warm_up?: boolean | undefined;
  readonly num_replicas?: number | undefined;
  readonly min_replicas?: number | undefined;
  readonly max_replicas?: number | undefined;
  readonly batch_size?: number | undefined;
  readonly batching?: 'none' | 'aimd' | 'quantile' | 'fixed' | undefined;
  readonly batch_delay_micros?: number | undefined;
  readonly memory_mib?: number | undefined;
  readonly environment?: readonly string[] | undefined;
  readonly start_timeout_ms?: number | undefined;
  readonly batch_timeout_ms?: number | undefined;
  readonly close_timeout_ms?: number | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly model_data_path?: string | undefined;
  readonly output?: string | undefined;
  readonly launch_class?: LaunchClass | undefined;
  /** `NODE/INDEX`: the only GPU that replicas of a kernel model run on. */
  readonly gpu?: string | undefined;
}

/** Of `POST /admin/set_num_replicas`. */
export interface ScaleFields {
  readonly model_name: string;
  readonly model_version: string;
  readonly num_replicas?: number | undefined;
  readonly min_replicas?: number | undefined;
  readonly max_replicas?: number | undefined;
}

/** Of `POST /admin/record_gpu_timeline`. */
export interface TimelineFields {
  readonly node?: string | undefined;
  readonly seconds?: number | undefined;
  readonly max_mib?: number | undefined;
}

/** Of `POST /admin/add_key`. */
export interface AddKeyFields {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly applications?: readonly string[] | undefined;
  readonly models?: readonly string[] | undefined;
  readonly lifetime_seconds?: number | undefined;
}

export interface ApplicationAnswer {
  readonly name: string;
  readonly input_type: InputType;
  readonly default_output: string;
  readonly latency_slo_micros: number;
  readonly policy: { readonly name: string; readonly parameters: unknown };
  readonly strict: boolean;
  readonly linked_models: readonly string[];
  readonly max_in_flight?: number | undefined;
  readonly launch_class?: LaunchClass | undefined;
}

export interface ModelAnswer {
  /** SHA-256 of its files when it was registered; replicas start from no others. */
  readonly content_hash?: string | undefined;
  readonly batch_size: number;
  readonly batching: 'none' | 'aimd' | 'quantile' | 'fixed';
  readonly warm_up: boolean;
  readonly replicas_up: number;
  readonly is_current_version: boolean;
  readonly is_serving_version: boolean;
  readonly input_type: InputType;
  readonly labels: readonly string[];
  readonly container_name: string;
  readonly model_data_path: string;
  readonly model_name: string;
  readonly model_version: string;
  readonly batch_delay_micros?: number | undefined;
  readonly num_replicas?: number | undefined;
  readonly min_replicas?: number | undefined;
  readonly max_replicas?: number | undefined;
  readonly memory_mib?: number | undefined;
  readonly environment?: readonly string[] | undefined;
  readonly start_timeout_ms?: number | undefined;
  readonly batch_timeout_ms?: number | undefined;
  readonly close_timeout_ms?: number | undefined;
  readonly input_length?: number | undefined;
  readonly output?: string | undefined;
  readonly launch_class?: LaunchClass | undefined;
  readonly gpu?: string | undefined;
}

export interface ContainerAnswer {
  readonly replica_id: number;
  readonly state: 'starting' | 'warming' | 'up' | 'draining' | 'down';
  readonly restarts: number;
  readonly model_name: string;
  readonly model_version: string;
  readonly gpu?: string | undefined;
  readonly last_failure?: string | undefined;
}

export interface StateAnswer {
  readonly app_name: string;
  readonly uid: string;
  readonly policy: { readonly name: string; readonly parameters: unknown };
  readonly shares: Record<string, number>;
}

export interface GpuContextAnswer {
  readonly context: number;
  readonly used_bytes: number;
  readonly sm_share: number;
  readonly commands: number;
  readonly model_name?: string | undefined;
  readonly model_version?: string | undefined;
  readonly replica_id?: string | undefined;
  readonly queued_inputs?: number | undefined;
  readonly in_flight_inputs?: number | undefined;
}

export interface GpuAnswer {
  readonly node: string;
  readonly gpu: string;
  readonly index: number;
  readonly uuid: string;
  readonly name: string;
  readonly profile: string;
  readonly is_measured: boolean;
  readonly dilation: number | null;
  readonly host_busy: number | null;
  readonly clock_lag_seconds: number;
  readonly simulated_seconds: number;
  readonly sm_clock_hz: number;
  readonly memory_clock_hz: number;
  readonly utilization: {
    readonly gpu: number;
    readonly memory: number;
    readonly sm_active: number;
    readonly sm_occupancy: number;
    readonly fp32_pipe: number;
    readonly fp64_pipe: number;
  };
  readonly memory: {
    readonly total_bytes: number;
    readonly used_bytes: number;
    readonly reserved_bytes: number;
    readonly free_bytes: number;
    readonly bytes_per_second: number;
  };
  readonly power: {
    readonly draw_watts: number;
    readonly limit_watts: number;
    readonly energy_joules: number;
    readonly throttle: 'none' | 'applicationClock' | 'powerCap';
  };
  readonly pcie: { readonly to_device_bytes_per_second: number; readonly to_host_bytes_per_second: number };
  readonly is_cordoned: boolean;
  readonly launches: number;
  readonly contexts: readonly GpuContextAnswer[];
}

export interface ClusterAnswer {
  readonly frontends: readonly {
    readonly name: string;
    readonly query: string;
    readonly management: string;
    readonly placing: boolean;
    readonly alive: boolean;
    /** How long ago the cluster heard of it. */
    readonly last_word_seconds: number;
  }[];
  readonly nodes: readonly {
    readonly name: string;
    readonly address: string;
    readonly gpus: readonly string[];
    readonly alive: boolean;
    readonly last_word_seconds: number;
    readonly connected: boolean;
    /** Why it is not connected. */
    readonly problem?: string | undefined;
    readonly round_trip_seconds?: number | undefined;
    readonly cordoned: boolean;
    readonly replicas: number;
  }[];
}

export interface KeyAnswer {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly created_at: string;
  readonly applications?: readonly string[] | undefined;
  readonly models?: readonly string[] | undefined;
  readonly expires_at?: string | undefined;
}

export interface NewKeyAnswer {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly created_at: string;
  readonly key: string;
  readonly applications?: readonly string[] | undefined;
  readonly models?: readonly string[] | undefined;
  readonly expires_at?: string | undefined;
}

/** What an application has learned, as it is kept. */
export interface ExportAnswer {
  readonly app_name: string;
  readonly uid: string;
  readonly policy: string;
  /** Grows with each write; 0: nothing was learned yet. */
  readonly version: number;
  readonly pinned: boolean;
  readonly state?: unknown;
  /** Versions that it can be taken back to, the oldest first. */
  readonly past: readonly {
    readonly version: number;
    readonly replaced_at: string;
    readonly state?: unknown;
  }[];
}

export type QueueJobState = 'waiting' | 'active' | 'delayed' | 'failed';

/** Feedback that is accepted and not learned yet. */
export interface QueueEntry {
  readonly id: string;
  readonly state: QueueJobState;
  readonly app_name: string;
  readonly uid: string;
  readonly attempts: number;
  /** Why it was not learned the last time. */
  readonly reason?: string | undefined;
  readonly accepted_at: string;
}

export interface QueueEntryAnswer extends QueueEntry {
  /** As it is queued. */
  readonly job?: unknown;
}

export interface QueueAnswer {
  /** Whether feedback goes by a queue: only with a store in Redis. */
  readonly queued: boolean;
  readonly counts: Readonly<Record<QueueJobState, number>>;
  readonly feedback: readonly QueueEntry[];
}

/** Clipper's administration, verb by verb. Every call rejects with a ClientError. Changes are durable once they resolve. */
export interface ManagementClient {
  addApplication(fields: AddApplicationFields, options?: CallOptions): Promise<string>;
  deleteApplication(name: string, options?: CallOptions): Promise<string>;
  application(name: string, options?: CallOptions): Promise<ApplicationAnswer>;
  applications(options?: CallOptions): Promise<readonly ApplicationAnswer[]>;
  /** Registers a version; it becomes the current one. */
  addModel(fields: AddModelFields, options?: CallOptions): Promise<string>;
  deleteModel(name: string, version: string, options?: CallOptions): Promise<string>;
  /** Rolls back or forward. */
  setModelVersion(name: string, version: string, options?: CallOptions): Promise<string>;
  /** Says how many replicas of a version run, or between which numbers the load decides. */
  setReplicas(fields: ScaleFields, options?: CallOptions): Promise<string>;
  model(name: string, version: string, options?: CallOptions): Promise<ModelAnswer>;
  models(options?: CallOptions): Promise<readonly ModelAnswer[]>;
  /** Links all of them or, on an error, none. */
  addLinks(application: string, models: readonly string[], options?: CallOptions): Promise<string>;
  deleteLinks(application: string, models: readonly string[], options?: CallOptions): Promise<string>;
  /** Names in order of linking. */
  linkedModels(application: string, options?: CallOptions): Promise<readonly string[]>;
  containers(options?: CallOptions): Promise<readonly ContainerAnswer[]>;
  /** What an application has learned, for itself or for one selection context. */
  state(application: string, context?: string, options?: CallOptions): Promise<StateAnswer>;
  /** The state as it is kept, and earlier versions. */
  exportState(application: string, context?: string, options?: CallOptions): Promise<ExportAnswer>;
  /** Forgets what was learned; earlier versions stay. */
  resetState(application: string, context?: string, options?: CallOptions): Promise<string>;
  /** @param version one that `exportState` lists; the last one unless given */
  rollBackState(
    application: string,
    context?: string,
    version?: number,
    options?: CallOptions,
  ): Promise<string>;
  /** It learns nothing until it is unpinned. */
  pinState(application: string, context?: string, options?: CallOptions): Promise<string>;
  unpinState(application: string, context?: string, options?: CallOptions): Promise<string>;
  /** Feedback that is accepted and not learned yet, and what has failed. @param limit 100 unless given */
  queue(states?: readonly QueueJobState[], limit?: number, options?: CallOptions): Promise<QueueAnswer>;
  /** One of them, with all that is queued of it. */
  queuedFeedback(id: string, options?: CallOptions): Promise<QueueEntryAnswer>;
  /** Tries again what has failed. @param id undefined: all of it */
  retryFeedback(id?: string, options?: CallOptions): Promise<string>;
  /** Gives up what has failed. @param id undefined: all of it */
  dropFeedback(id?: string, options?: CallOptions): Promise<string>;
  /** What every simulated GPU does. */
  gpus(options?: CallOptions): Promise<readonly GpuAnswer[]>;
  /** Takes as long as is asked for. The answer is a trace in Chrome's trace event format. */
  recordGpuTimeline(fields: TimelineFields, options?: CallOptions): Promise<unknown>;
  /** The key is in this answer and nowhere else. */
  addKey(fields: AddKeyFields, options?: CallOptions): Promise<NewKeyAnswer>;
  /** Oldest first, without secrets. */
  keys(options?: CallOptions): Promise<readonly KeyAnswer[]>;
  /** Makes what this frontend knows the truth, after the shared store has lost changes. */
  repairStore(options?: CallOptions): Promise<string>;
  /** Frontends and nodes of a cluster, as this frontend sees them. */
  clusterStatus(options?: CallOptions): Promise<ClusterAnswer>;
  /** Places no replicas on a node, and those that it has on others; or may again. */
  drainNode(node: string, isDrained?: boolean, options?: CallOptions): Promise<string>;
  /** Requests with the key are refused at once. */
  deleteKey(id: string, options?: CallOptions): Promise<string>;
}

export interface WindjammerClientOptions extends ConnectionOptions {
  readonly queryUrl?: string | undefined;
  readonly managementUrl?: string | undefined;
  /** Of a call without a limit of its own; 30 s by default. */
  readonly timeoutMs?: number | undefined;
}

/** A batch job, and how far it is. */
export interface JobAnswer {
  readonly job_id: string;
  readonly application: string;
  readonly launch_class: LaunchClass;
  readonly state: 'running' | 'done' | 'cancelled';
  readonly lines: number;
  /** Lines whose prediction or error is kept. */
  readonly answered: number;
  /** Those of them that have an error. */
  readonly failed: number;
  readonly input_bytes: number;
  readonly created: string;
}

/** What lies where a server keeps a job, and cannot be read. It may be removed. */
export interface UnreadableJob {
  readonly job_id: string;
  readonly reason: string;
}

/** Batch jobs of a server, or of all that share a store. Calls reject with a ClientError. */
export interface JobsClient {
  /** @param input lines of JSON: an input each, or a request with `input` */
  create(
    application: string,
    input: string | NodeJS.ReadableStream,
    options?: CallOptions & { readonly launchClass?: LaunchClass | undefined },
  ): Promise<JobAnswer>;
  list(options?: CallOptions): Promise<readonly JobAnswer[]>;
  /** All jobs, with those that the server cannot read. */
  all(
    options?: CallOptions,
  ): Promise<{ readonly jobs: readonly JobAnswer[]; readonly unreadable: readonly UnreadableJob[] }>;
  show(id: string, options?: CallOptions): Promise<JobAnswer>;
  /** Asks no further lines; what is answered stays. */
  cancel(id: string, options?: CallOptions): Promise<JobAnswer>;
  /** Forgets it, with its input and results; also one that cannot be read. */
  remove(id: string, options?: CallOptions): Promise<JobAnswer | UnreadableJob>;
  /** Bytes of lines of JSON, in the order of the input's lines. @param follow until the job is over */
  results(id: string, follow?: boolean, signal?: AbortSignal): AsyncIterable<Uint8Array>;
}

/** A client of one server over HTTP. Calls reject with a ClientError. */
export class WindjammerClient {
  readonly management: ManagementClient;
  readonly jobs: JobsClient;
  constructor(options?: WindjammerClientOptions);
  predict(application: string, input: ClientInput, options?: PredictOptions): Promise<Prediction>;
  /** One entry for each input, in order: a prediction, or why there is none. */
  predictBatch(
    application: string,
    inputs: readonly ClientInput[],
    options?: PredictOptions,
  ): Promise<(Prediction | RefusedError)[]>;
  feedback(application: string, feedback: Feedback, options?: CallOptions): Promise<FeedbackResult>;
}

export interface WebSocketClientOptions extends ConnectionOptions {
  /** Binary by default: it costs less at both ends. */
  readonly format?: 'binary' | 'json' | undefined;
  /** Calls under way at once; more wait for their turn. As many as a server takes by default. */
  readonly maxInFlight?: number | undefined;
  /** Of a call without a limit of its own, and of connecting; 30 s by default. */
  readonly timeoutMs?: number | undefined;
}

/** Many predictions and feedbacks under way on one WebSocket. Once the connection is gone it is not opened again. */
export class WebSocketClient {
  private constructor(webSocket: never, options: never);
  /** @param url `ws://HOST:PORT/ws`, or the address of the query interface. Rejects with RefusedError, SecurityError, UnreachableError */
  static connect(url: string, options?: WebSocketClientOptions): Promise<WebSocketClient>;
  /** Calls without an answer. */
  get inFlight(): number;
  predict(application: string, input: ClientInput, options?: PredictOptions): Promise<Prediction>;
  feedback(application: string, feedback: Feedback, options?: CallOptions): Promise<FeedbackResult>;
  /** Says goodbye and waits for the other side's; calls under way are rejected. */
  close(): Promise<void>;
}

export const DEFAULT_QUERY_URL: string;
export const DEFAULT_MANAGEMENT_URL: string;
