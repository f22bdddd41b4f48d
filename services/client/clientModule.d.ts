/**
 * Types of `windjammer/client`, for Node and browsers: they need AbortSignal and AsyncIterable, and no package.
 * Made of the sources by `node dist/services/client/tests/writeDeclarations.js`; a test holds it to them.
 */

export declare abstract class ClientError extends Error {
  abstract readonly code: string;
}

export declare class RefusedError extends ClientError {
  readonly code: string;
  readonly status: number;
  readonly field?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly name = 'RefusedError';
  constructor(
    code: string,
    status: number,
    message: string,
    field?: string | undefined,
    retryAfterMs?: number | undefined,
  );
}

export declare class SecurityError extends ClientError {
  readonly name = 'SecurityError';
  readonly code = 'insecure';
}

export declare class TimeoutError extends ClientError {
  readonly name = 'TimeoutError';
  readonly code = 'timeout';
}

export declare class UnexpectedAnswerError extends ClientError {
  readonly name = 'UnexpectedAnswerError';
  readonly code = 'unexpected_answer';
}

export declare class UnreachableError extends ClientError {
  readonly name = 'UnreachableError';
  readonly code = 'unreachable';
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

export type ClientInput = string | readonly number[] | Float64Array | Float32Array | Int32Array | Uint8Array;

export interface Feedback {
  readonly queryId?: string | undefined;
  readonly input?: ClientInput | undefined;
  readonly label?: string | number | bigint | undefined;
  readonly loss?: number | undefined;
  readonly reward?: number | undefined;
  readonly losses?: Readonly<Record<string, number>> | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly features?: ClientFeatures | undefined;
  readonly context?: string | undefined;
}

export interface FeedbackResult {
  readonly joined: FeedbackJoined;
  readonly durable: boolean;
}

export interface Prediction {
  readonly queryId: string;
  readonly output: unknown;
  readonly isDefault: boolean;
  readonly defaultReason?: DefaultReason | undefined;
  readonly confidence: number;
  readonly cached: boolean;
  readonly models: readonly {
    readonly name: string;
    readonly version: string;
    readonly cached: boolean;
  }[];
}

export interface PredictOptions extends CallOptions {
  readonly context?: string | undefined;
  readonly version?: string | undefined;
  readonly objectiveUs?: number | undefined;
  readonly deadlineMs?: number | undefined;
  readonly strict?: boolean | undefined;
  readonly priority?: number | undefined;
  readonly launchClass?: LaunchClass | undefined;
  readonly features?: ClientFeatures | undefined;
}

export interface ConnectionOptions {
  readonly apiKey?: string | undefined;
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export type LaunchClass = 'critical' | 'standard' | 'bestEffort';

export interface JobAnswer {
  readonly job_id: string;
  readonly application: string;
  readonly launch_class: LaunchClass;
  readonly state: 'running' | 'done' | 'cancelled';
  readonly lines: number;
  readonly answered: number;
  readonly failed: number;
  readonly input_bytes: number;
  readonly created: string;
}

export interface JobsClient {
  create(
    application: string,
    input: string | Pieces,
    options?: CallOptions & {
      readonly launchClass?: LaunchClass | undefined;
    },
  ): Promise<JobAnswer>;
  list(options?: CallOptions): Promise<readonly JobAnswer[]>;
  all(options?: CallOptions): Promise<{
    readonly jobs: readonly JobAnswer[];
    readonly unreadable: readonly UnreadableJob[];
  }>;
  show(id: string, options?: CallOptions): Promise<JobAnswer>;
  cancel(id: string, options?: CallOptions): Promise<JobAnswer>;
  remove(id: string, options?: CallOptions): Promise<JobAnswer | UnreadableJob>;
  results(id: string, follow?: boolean, signal?: AbortSignal): AsyncIterable<Uint8Array>;
}

export interface UnreadableJob {
  readonly job_id: string;
  readonly reason: string;
}

export interface ManagementClient {
  addApplication(fields: AddApplicationFields, options?: CallOptions): Promise<string>;
  setApplication(fields: SetApplicationFields, options?: CallOptions): Promise<string>;
  deleteApplication(name: string, options?: CallOptions): Promise<string>;
  application(name: string, options?: CallOptions): Promise<ApplicationAnswer>;
  applications(options?: CallOptions): Promise<readonly ApplicationAnswer[]>;
  addModel(fields: AddModelFields, options?: CallOptions): Promise<string>;
  hasBundle(contentHash: string, options?: CallOptions): Promise<boolean>;
  addBundle(contentHash: string, body: Pieces, options?: CallOptions): Promise<void>;
  deleteModel(name: string, version: string, options?: CallOptions): Promise<string>;
  setModelVersion(name: string, version: string, options?: CallOptions): Promise<string>;
  startCanary(
    name: string,
    version: string,
    canary?: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<string>;
  promoteCanary(name: string, options?: CallOptions): Promise<string>;
  abortCanary(name: string, options?: CallOptions): Promise<string>;
  canary(name: string, options?: CallOptions): Promise<CanaryAnswer>;
  canaries(options?: CallOptions): Promise<readonly CanaryAnswer[]>;
  setReplicas(fields: ScaleFields, options?: CallOptions): Promise<string>;
  model(name: string, version: string, options?: CallOptions): Promise<ModelAnswer>;
  models(options?: CallOptions): Promise<readonly ModelAnswer[]>;
  addLinks(application: string, models: readonly string[], options?: CallOptions): Promise<string>;
  deleteLinks(application: string, models: readonly string[], options?: CallOptions): Promise<string>;
  linkedModels(application: string, options?: CallOptions): Promise<readonly string[]>;
  containers(options?: CallOptions): Promise<readonly ContainerAnswer[]>;
  state(application: string, context?: string, options?: CallOptions): Promise<StateAnswer>;
  exportState(application: string, context?: string, options?: CallOptions): Promise<ExportAnswer>;
  resetState(application: string, context?: string, options?: CallOptions): Promise<string>;
  rollBackState(
    application: string,
    context?: string,
    version?: number,
    options?: CallOptions,
  ): Promise<string>;
  pinState(application: string, context?: string, options?: CallOptions): Promise<string>;
  unpinState(application: string, context?: string, options?: CallOptions): Promise<string>;
  queue(states?: readonly QueueJobState[], limit?: number, options?: CallOptions): Promise<QueueAnswer>;
  queuedFeedback(id: string, options?: CallOptions): Promise<QueueEntryAnswer>;
  retryFeedback(id?: string, options?: CallOptions): Promise<string>;
  dropFeedback(id?: string, options?: CallOptions): Promise<string>;
  events(fields?: EventsFields, options?: CallOptions): Promise<EventsAnswer>;
  gpus(options?: CallOptions): Promise<readonly GpuAnswer[]>;
  recordGpuTimeline(fields: TimelineFields, options?: CallOptions): Promise<unknown>;
  addKey(fields: AddKeyFields, options?: CallOptions): Promise<NewKeyAnswer>;
  keys(options?: CallOptions): Promise<readonly KeyAnswer[]>;
  repairStore(options?: CallOptions): Promise<string>;
  clusterStatus(options?: CallOptions): Promise<ClusterAnswer>;
  drainNode(node: string, isDrained?: boolean, options?: CallOptions): Promise<string>;
  backup(signal?: AbortSignal, silenceMs?: number): AsyncGenerator<Uint8Array>;
  deleteKey(id: string, options?: CallOptions): Promise<string>;
}

export declare class WebSocketClient {
  private constructor();
  static connect(url: string, options?: WebSocketClientOptions): Promise<WebSocketClient>;
  get inFlight(): number;
  predict(application: string, input: ClientInput, options?: PredictOptions): Promise<Prediction>;
  feedback(application: string, feedback: Feedback, options?: CallOptions): Promise<FeedbackResult>;
  close(): Promise<void>;
}

export interface WebSocketClientOptions extends ConnectionOptions {
  readonly format?: 'binary' | 'json';
  readonly maxInFlight?: number;
  readonly timeoutMs?: number;
}

export declare const DEFAULT_MANAGEMENT_URL = 'http://127.0.0.1:1338';

export declare const DEFAULT_QUERY_URL = 'http://127.0.0.1:1337';

export declare class WindjammerClient {
  readonly management: ManagementClient;
  readonly jobs: JobsClient;
  constructor(options?: WindjammerClientOptions);
  predict(application: string, input: ClientInput, options?: PredictOptions): Promise<Prediction>;
  predictBatch(
    application: string,
    inputs: readonly ClientInput[],
    options?: PredictOptions,
  ): Promise<(Prediction | RefusedError)[]>;
  feedback(application: string, feedback: Feedback, options?: CallOptions): Promise<FeedbackResult>;
}

export interface WindjammerClientOptions extends ConnectionOptions {
  readonly queryUrl?: string | undefined;
  readonly managementUrl?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

export type ClientFeatures = Readonly<Record<string, number>>;

export type FeedbackJoined = 'query' | 'cache' | 'evaluated' | 'queued' | 'repeated' | 'pinned' | 'none';

export type DefaultReason =
  'no_linked_model' | 'no_replica' | 'deadline' | 'model_error' | 'overload' | 'low_confidence';

export type Pieces = AsyncIterable<Uint8Array | string>;

export interface AddApplicationFields {
  readonly name: string;
  readonly input_type: 'integers' | 'bytes' | 'floats' | 'doubles' | 'strings';
  /** Answered when there is no prediction in time */
  readonly default_output: string;
  readonly latency_slo_micros: number;
  /** Queries without an answer that it may have; more get the default output at once, with the reason overload. Any number when left out */
  readonly max_in_flight?: number | undefined;
  /** How linked models are chosen and combined */
  readonly policy?:
    | {
        readonly name: string;
        /** By name; docs/reference/policies.md has each policy's */
        readonly parameters?: unknown;
      }
    | undefined;
  readonly policy_file?:
    | {
        /** Of the file, for messages */
        readonly name: string;
        /** An ES module in JavaScript */
        readonly content: string;
        /** SHA-256 of the content in UTF-8, in hexadecimal: refused where it is another */
        readonly content_hash?: string | undefined;
      }
    | undefined;
  /** Queries that do not say otherwise get an error in place of the default output */
  readonly strict?: boolean | undefined;
  /** How much the kernels that compute its queries may be made to wait by others on their GPU, under a scheduling policy that asks; each model's own when left out */
  readonly launch_class?: 'critical' | 'standard' | 'bestEffort' | undefined;
  /** What is learned for a context (uid) that was not used for so many days is forgotten; 30 when left out */
  readonly context_ttl_days?: number | undefined;
  /** How labels judge its models, for what policies learn; zeroOne, right or wrong, when left out */
  readonly loss?:
    | {
        readonly name: string;
        /** Of numbers: an error so large counts as 1, which is the most; 1 unless given */
        readonly scale?: number | undefined;
        /** Of pinball: which one models are to answer; 0.5 unless given */
        readonly quantile?: number | undefined;
      }
    | undefined;
  /** What it costs a model, for what policies learn, not to have answered when the time of a query is over, whatever it says: from 0 to 1; nothing when left out */
  readonly loss_of_late?: number | undefined;
}

export interface SetApplicationFields {
  readonly name: string;
  /** null: any number */
  readonly max_in_flight?: number | undefined | null;
  readonly policy?:
    | {
        /** Another one begins anew, and is taken only where nothing was learned */
        readonly name?: string | undefined;
        /** In place of all the present ones; docs/reference/policies.md has each policy's */
        readonly parameters?: unknown;
      }
    | undefined;
  readonly policy_file?:
    | {
        /** Of the file, for messages */
        readonly name: string;
        /** An ES module in JavaScript */
        readonly content: string;
        /** SHA-256 of the content in UTF-8, in hexadecimal: refused where it is another */
        readonly content_hash?: string | undefined;
      }
    | undefined;
  /** With another policy.name: what was learned under the present one may go */
  readonly forget_learned?: boolean | undefined;
  readonly strict?: boolean | undefined;
  /** null: each model's own */
  readonly launch_class?: 'critical' | 'standard' | 'bestEffort' | undefined | null;
  /** null: 30 */
  readonly context_ttl_days?: number | undefined | null;
  /** null: right or wrong */
  readonly loss?:
    | {
        readonly name: string;
        /** Of numbers: an error so large counts as 1, which is the most; 1 unless given */
        readonly scale?: number | undefined;
        /** Of pinball: which one models are to answer; 0.5 unless given */
        readonly quantile?: number | undefined;
      }
    | undefined
    | null;
  /** null: nothing */
  readonly loss_of_late?: number | undefined | null;
  /** Answered when there is no prediction in time */
  readonly default_output?: string | undefined;
  readonly latency_slo_micros?: number | undefined;
  /** Only the present one: what an application takes never changes */
  readonly input_type?: 'integers' | 'bytes' | 'floats' | 'doubles' | 'strings' | undefined;
}

export interface ApplicationAnswer {
  readonly name: string;
  readonly input_type: 'integers' | 'bytes' | 'floats' | 'doubles' | 'strings';
  readonly default_output: string;
  readonly latency_slo_micros: number;
  readonly policy: {
    readonly name: string;
    readonly parameters: unknown;
  };
  /** Queries that do not say otherwise get an error in place of the default output */
  readonly strict: boolean;
  readonly linked_models: readonly string[];
  readonly max_in_flight?: number | undefined;
  readonly context_ttl_days?: number | undefined;
  readonly launch_class?: 'critical' | 'standard' | 'bestEffort' | undefined;
  readonly loss?:
    | {
        readonly name: string;
        /** Of numbers: an error so large counts as 1, which is the most; 1 unless given */
        readonly scale?: number | undefined;
        /** Of pinball: which one models are to answer; 0.5 unless given */
        readonly quantile?: number | undefined;
      }
    | undefined;
  readonly loss_of_late?: number | undefined;
  readonly policy_file?:
    | {
        readonly name: string;
        readonly content_hash: string;
        readonly losses: readonly string[];
        /** The name that its default export has */
        readonly policy?: string | undefined;
      }
    | undefined;
}

export interface AddModelFields {
  readonly input_type: 'integers' | 'bytes' | 'floats' | 'doubles' | 'strings';
  readonly container_name: string;
  readonly model_name: string;
  readonly model_version: string;
  /** It is tried beside the current version, with a share of the queries that grows, in place of becoming current at once: true, or parameters of the policy canary such as {"loss": 0.01} */
  readonly canary?: Readonly<Record<string, unknown>> | true | undefined;
  /** Unless false a new replica answers golden or made-up inputs before it serves */
  readonly warm_up?: boolean | undefined;
  /** Replicas that run; 0: the version stays registered and answers nothing */
  readonly num_replicas?: number | undefined;
  /** With a larger max_replicas the load decides between them */
  readonly min_replicas?: number | undefined;
  readonly max_replicas?: number | undefined;
  /** -1: adaptive; otherwise the largest batch */
  readonly batch_size?: number | undefined;
  /** Unless given: aimd when batch_size is -1, otherwise fixed, which needs a batch_size. none: one input after the other */
  readonly batching?: 'none' | 'quantile' | 'aimd' | 'fixed' | undefined;
  /** A batch that is not full waits so long for company, as far as the deadlines of its queries allow; 0, not at all, when left out */
  readonly batch_delay_micros?: number | undefined;
  readonly python?: string | undefined;
  readonly command?: string | undefined;
  readonly memory_mib?: number | undefined;
  readonly environment?: readonly string[] | undefined;
  readonly start_timeout_ms?: number | undefined;
  readonly batch_timeout_ms?: number | undefined;
  readonly close_timeout_ms?: number | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly model_data_path?: string | undefined;
  /** Of the files: with model_data_path no others are taken; without it, those that add_bundle has brought */
  readonly content_hash?: string | undefined;
  readonly output?: string | undefined;
  readonly launch_class?: 'critical' | 'standard' | 'bestEffort' | undefined;
  readonly gpu?: string | undefined;
}

export interface CanaryAnswer {
  readonly model_name: string;
  readonly candidate_version: string;
  readonly incumbent_version: string;
  readonly phase: 'ramping' | 'promoted' | 'withdrawn' | 'aborted';
  readonly parameters: unknown;
  /** Why it ended */
  readonly reason?: string | undefined;
  /** Of the queries, while it is tried: 0 until a replica of the candidate is up */
  readonly share?: number | undefined;
  /** Place of the share among the steps, from 0 */
  readonly step?: number | undefined;
  /** Queries that the candidate was asked at this step */
  readonly asked?: number | undefined;
  readonly rails?:
    | {
        readonly loss: {
          readonly candidate: {
            readonly queries: number;
            /** Of losses, or of queries that were slow or failed */
            readonly sum: number;
          };
          readonly incumbent: {
            readonly queries: number;
            /** Of losses, or of queries that were slow or failed */
            readonly sum: number;
          };
        };
        readonly latency: {
          readonly candidate: {
            readonly queries: number;
            /** Of losses, or of queries that were slow or failed */
            readonly sum: number;
          };
          readonly incumbent: {
            readonly queries: number;
            /** Of losses, or of queries that were slow or failed */
            readonly sum: number;
          };
        };
        readonly errors: {
          readonly candidate: {
            readonly queries: number;
            /** Of losses, or of queries that were slow or failed */
            readonly sum: number;
          };
          readonly incumbent: {
            readonly queries: number;
            /** Of losses, or of queries that were slow or failed */
            readonly sum: number;
          };
        };
      }
    | undefined;
}

export interface ScaleFields {
  readonly model_name: string;
  readonly model_version: string;
  /** Replicas that run; 0: the version stays registered and answers nothing */
  readonly num_replicas?: number | undefined;
  /** With a larger max_replicas the load decides between them */
  readonly min_replicas?: number | undefined;
  readonly max_replicas?: number | undefined;
}

export interface ModelAnswer {
  /** The largest batch; -1: adaptive */
  readonly batch_size: number;
  readonly batching: 'none' | 'quantile' | 'aimd' | 'fixed';
  readonly warm_up: boolean;
  /** Replicas that take queries now */
  readonly replicas_up: number;
  /** Linked applications whose objective is shorter than that */
  readonly warnings: readonly string[];
  /** The version that was chosen last */
  readonly is_current_version: boolean;
  /** The version that answers: the current one from the moment that a replica of it is up */
  readonly is_serving_version: boolean;
  readonly input_type: 'integers' | 'bytes' | 'floats' | 'doubles' | 'strings';
  readonly labels: readonly string[];
  readonly container_name: string;
  readonly model_data_path: string;
  readonly model_name: string;
  readonly model_version: string;
  readonly batch_delay_micros?: number | undefined;
  /** Replicas that are to run; none of a container that dials in */
  readonly num_replicas?: number | undefined;
  /** With max_replicas: the load decides between them */
  readonly min_replicas?: number | undefined;
  readonly max_replicas?: number | undefined;
  /** What a single input took at the end of the warm-up of its quickest replica, if it has one */
  readonly one_input_micros?: number | undefined;
  /** Of the last version of the model that was tried beside another: get_canary has more */
  readonly canary?: 'ramping' | 'promoted' | 'withdrawn' | 'aborted' | undefined;
  readonly python?: string | undefined;
  readonly command?: string | undefined;
  readonly memory_mib?: number | undefined;
  readonly environment?: readonly string[] | undefined;
  readonly start_timeout_ms?: number | undefined;
  readonly batch_timeout_ms?: number | undefined;
  readonly close_timeout_ms?: number | undefined;
  readonly input_length?: number | undefined;
  readonly input_columns?: readonly string[] | undefined;
  /** SHA-256 of its files when it was registered; replicas start from no others */
  readonly content_hash?: string | undefined;
  readonly output?: string | undefined;
  readonly launch_class?: 'critical' | 'standard' | 'bestEffort' | undefined;
  readonly gpu?: string | undefined;
}

export interface ContainerAnswer {
  readonly replica_id: number;
  readonly state: 'starting' | 'warming' | 'up' | 'draining' | 'down';
  readonly restarts: number;
  readonly model_name: string;
  readonly model_version: string;
  /** NODE/INDEX of the GPU whose memory it holds */
  readonly gpu?: string | undefined;
  readonly last_failure?: string | undefined;
}

export interface StateAnswer {
  readonly app_name: string;
  readonly uid: string;
  readonly policy: {
    readonly name: string;
    readonly parameters: unknown;
  };
  /** Share of queries that each model gets; of the vote in an ensemble */
  readonly shares: Readonly<Record<string, number>>;
}

export interface ExportAnswer {
  readonly app_name: string;
  readonly uid: string;
  readonly policy: string;
  /** Grows with each write; 0: nothing was learned yet */
  readonly version: number;
  readonly pinned: boolean;
  /** As the policy keeps it */
  readonly state: unknown;
  /** Versions that it can be taken back to, the oldest first */
  readonly past: readonly {
    readonly version: number;
    readonly replaced_at: string;
    readonly state: unknown;
  }[];
}

export type QueueJobState = 'waiting' | 'active' | 'delayed' | 'failed';

export interface QueueAnswer {
  /** Whether feedback goes by a queue: only with a store in Redis */
  readonly queued: boolean;
  readonly counts: {
    readonly waiting: number;
    readonly active: number;
    readonly delayed: number;
    readonly failed: number;
  };
  readonly feedback: readonly {
    readonly id: string;
    readonly state: 'waiting' | 'active' | 'delayed' | 'failed';
    readonly app_name: string;
    readonly uid: string;
    readonly attempts: number;
    readonly accepted_at: string;
    /** Why it was not learned the last time */
    readonly reason?: string | undefined;
  }[];
}

export interface QueueEntryAnswer {
  readonly id: string;
  readonly state: 'waiting' | 'active' | 'delayed' | 'failed';
  readonly app_name: string;
  readonly uid: string;
  readonly attempts: number;
  readonly accepted_at: string;
  /** As it is queued */
  readonly job: unknown;
  /** Why it was not learned the last time */
  readonly reason?: string | undefined;
}

export interface EventsFields {
  /** Those that follow the event of this number, the first of them first; the last ones when left out */
  readonly after?: number | undefined;
  /** Those before the event of this number */
  readonly before?: number | undefined;
  /** Not older than this */
  readonly since?: string | undefined;
  readonly app_name?: string | undefined;
  readonly model_name?: string | undefined;
  readonly limit?: number | undefined;
  /** Where there is none, the answer waits so long for one */
  readonly wait_seconds?: number | undefined;
}

export interface EventsAnswer {
  /** The oldest first */
  readonly events: readonly {
    /** Its number; grows, over all servers that share a store */
    readonly seq: number;
    readonly time: string;
    /** By the name that cluster_status has for it */
    readonly server: string;
    readonly by: {
      /** The name of the key that was shown; `open` where none is asked for; else the server's part that did it */
      readonly name: string;
      /** The id of the key */
      readonly key?: string | undefined;
    };
    /** The verb of management, or what happened by itself */
    readonly verb: string;
    readonly about: {
      readonly application?: string | undefined;
      readonly context?: string | undefined;
      readonly model?: string | undefined;
      readonly version?: string | undefined;
      readonly replica?: number | undefined;
      readonly node?: string | undefined;
      readonly key?: string | undefined;
      readonly feedback?: string | undefined;
      readonly alert?: string | undefined;
      readonly models?: readonly string[] | undefined;
    };
    /** Nobody asked for it */
    readonly automatic?: true | undefined;
    /** It has happened so often, each time within ten minutes of the last, which is `time` */
    readonly count?: number | undefined;
    /** With a count: when it happened first */
    readonly since?: string | undefined;
    /** Long texts and lists are cut */
    readonly before?: unknown;
    readonly after?: unknown;
  }[];
  /** There are others beyond the limit: earlier ones, or with `after` later ones */
  readonly more: boolean;
  /** The number of the last event of all; 0: there was none */
  readonly last: number;
}

export interface GpuAnswer {
  readonly node: string;
  /** Its name, NODE/INDEX: what a model is pinned to */
  readonly gpu: string;
  /** Among all of the server's GPUs */
  readonly index: number;
  readonly uuid: string;
  /** As its maker calls it */
  readonly name: string;
  readonly profile: string;
  /** Whether the profile's times were held against a real card */
  readonly is_measured: boolean;
  /** Host time over simulated time with a batch in flight: above 1 the host is slower than the card */
  readonly dilation: number | null;
  /** Of the host's time lately, the part in which the node had a batch in flight */
  readonly host_busy: number | null;
  /** The most that a simulated event came late on the host */
  readonly clock_lag_seconds: number;
  /** What shares and rates cover, in the simulated time */
  readonly simulated_seconds: number;
  readonly sm_clock_hz: number;
  readonly memory_clock_hz: number;
  readonly utilization: {
    /** Time with a block on the GPU */
    readonly gpu: number;
    /** Bytes moved, of the memory's bandwidth by its data sheet */
    readonly memory: number;
    /** SM-time with a block */
    readonly sm_active: number;
    /** Resident warps, of those that the SMs could hold */
    readonly sm_occupancy: number;
    readonly fp32_pipe: number;
    readonly fp64_pipe: number;
  };
  readonly memory: {
    readonly total_bytes: number;
    /** Contexts, modules and allocations */
    readonly used_bytes: number;
    /** By replicas, those that are starting among them */
    readonly reserved_bytes: number;
    /** For further replicas */
    readonly free_bytes: number;
    readonly bytes_per_second: number;
  };
  readonly power: {
    /** On average */
    readonly draw_watts: number;
    readonly limit_watts: number;
    /** Since the GPU's beginning */
    readonly energy_joules: number;
    /** Why the SM clock is below its highest */
    readonly throttle: 'none' | 'applicationClock' | 'powerCap';
  };
  readonly pcie: {
    readonly to_device_bytes_per_second: number;
    readonly to_host_bytes_per_second: number;
  };
  /** It takes no replica more */
  readonly is_cordoned: boolean;
  /** Launches on the GPU, those without a block on it yet among them */
  readonly launches: number;
  readonly contexts: readonly {
    readonly context: number;
    readonly used_bytes: number;
    /** Its part of sm_active, by its warps among the GPU's */
    readonly sm_share: number;
    /** Commands in its streams */
    readonly commands: number;
    readonly model_name?: string | undefined;
    readonly model_version?: string | undefined;
    readonly replica_id?: string | undefined;
    /** Inputs that wait in the replica's queue */
    readonly queued_inputs?: number | undefined;
    /** Inputs that the replica works on */
    readonly in_flight_inputs?: number | undefined;
  }[];
}

export interface TimelineFields {
  /** A GPU node; the first one when left out */
  readonly node?: string | undefined;
  /** For so long, in host time; the timeline's own times are simulated */
  readonly seconds?: number | undefined;
  /** Of text; events beyond it are left out, and counted in droppedEvents */
  readonly max_mib?: number | undefined;
}

export interface AddKeyFields {
  /** What the key is for, in words */
  readonly name: string;
  /** What it may do; admin implies the others */
  readonly scopes: readonly ('feedback' | 'predict' | 'metrics' | 'admin')[];
  /** Limits predict and feedback to these applications, which need not exist yet */
  readonly applications?: readonly string[] | undefined;
  /** Limits predict to these models, asked by name, beside the applications */
  readonly models?: readonly string[] | undefined;
  /** Until it expires; for ever when left out */
  readonly lifetime_seconds?: number | undefined;
}

export interface NewKeyAnswer {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly ('feedback' | 'predict' | 'metrics' | 'admin')[];
  readonly created_at: string;
  /** What requests show. It is answered this once and kept nowhere */
  readonly key: string;
  readonly applications?: readonly string[] | undefined;
  readonly models?: readonly string[] | undefined;
  readonly expires_at?: string | undefined;
}

export interface KeyAnswer {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly ('feedback' | 'predict' | 'metrics' | 'admin')[];
  readonly created_at: string;
  readonly applications?: readonly string[] | undefined;
  readonly models?: readonly string[] | undefined;
  readonly expires_at?: string | undefined;
}

export interface ClusterAnswer {
  readonly frontends: readonly {
    readonly name: string;
    /** Address of its query interface */
    readonly query: string;
    readonly management: string;
    /** It says which node runs which replica; of others half a second late, or a little more */
    readonly placing: boolean;
    readonly alive: boolean;
    readonly last_word_seconds: number;
  }[];
  readonly nodes: readonly {
    readonly name: string;
    readonly address: string;
    readonly gpus: readonly string[];
    /** The cluster hears of it */
    readonly alive: boolean;
    readonly last_word_seconds: number;
    /** The frontend that is asked has a connection to it */
    readonly connected: boolean;
    /** Its replicas have been moved away, and it gets no others */
    readonly cordoned: boolean;
    /** That are placed on it */
    readonly replicas: number;
    /** Why it has none */
    readonly problem?: string | undefined;
    /** Of the last ping on that connection */
    readonly round_trip_seconds?: number | undefined;
  }[];
}
