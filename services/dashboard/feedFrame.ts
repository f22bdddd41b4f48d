/*
 * What the live feed carries: the last ten minutes once, a point of them every other second, and a frame every half second.
 * The page reads these types and nothing else of the server's code. Shares are from 0 to 1; times name their clock.
 */

/** Charts whose points are recorded; latencies are in milliseconds, rates a second. */
export type RecordedChart =
  | 'rate'
  | 'latency'
  /** By reason. */
  | 'defaults'
  | 'applicationRate'
  | 'applicationP50'
  | 'applicationP99'
  | 'batches'
  | 'modelP50'
  | 'modelP99'
  | 'queues'
  | 'cache'
  /** By model, of one application. */
  | `weights/${string}`
  /** By GPU. */
  | 'gpuBusy'
  | 'gpuLaunches'
  | 'gpuKills'
  | 'gpuSaves'
  | 'gpuDrains';

/** Something that was changed, or that happened, and that may show in the charts. */
export interface Change {
  /** Wall clock, milliseconds since 1970. */
  readonly at: number;
  readonly kind:
    | 'deploy'
    | 'switch'
    | 'rollback'
    | 'remove'
    | 'scale'
    | 'application'
    | 'lost'
    | 'alert'
    | 'resolved'
    | 'other';
  /** What it is about: a model, an application, a replica. */
  readonly what: string;
  readonly text: string;
}

/** `event: history`: all there is, for a page that has nothing, or missed something. */
export interface HistoryEvent {
  readonly everyMs: number;
  /** The most that are kept. */
  readonly points: number;
  /** Wall clock, milliseconds since 1970. */
  readonly times: readonly number[];
  /** As long as `times`; null where there was nothing. */
  readonly columns: readonly (readonly [chart: string, name: string, values: readonly (number | null)[]])[];
  readonly changes: readonly Change[];
}

/** `event: point`: what came since. A series that is not in it has a gap there. */
export interface PointEvent {
  readonly atMs: number;
  readonly values: readonly (readonly [chart: string, name: string, value: number | null])[];
  readonly changes: readonly Change[];
}

export interface FeedFrame {
  /** Wall clock, milliseconds since 1970. */
  readonly atMs: number;
  /** Wall time that the rates cover; 0 in the first frame, whose rates mean nothing yet. */
  readonly seconds: number;
  readonly queries: QueryRates;
  /** Of the queries answered meanwhile; null when there were none. */
  readonly latency: LatencyView | null;
  /** Inputs that wait in queues, and that replicas work on. */
  readonly queued: number;
  readonly inFlightInputs: number;
  /** Queries without an answer yet. */
  readonly inFlightQueries: number;
  readonly cache: CacheView;
  readonly applications: readonly ApplicationView[];
  readonly models: readonly ModelView[];
  readonly nodes: readonly NodeView[];
  /** Frontends and nodes of the cluster; null where there is none. */
  readonly cluster: ClusterView | null;
  /** Feedback on its way through Redis; null where it goes no such way. */
  readonly queue: QueueView | null;
  /** Batch jobs; null where there are none. */
  readonly jobs: JobsView | null;
  /** What the lists leave out, so that a server with thousands of names can be watched. */
  readonly omitted: { readonly applications: number; readonly models: number };
}

/** Queries a second by what became of them. */
export interface QueryRates {
  readonly predicted: number;
  readonly defaulted: number;
  readonly cancelled: number;
  readonly refused: number;
  /** Feedback a second. */
  readonly feedback: number;
}

/** From acceptance to answer, on the wall's clock. */
export interface LatencyView {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface CacheView {
  /** Of the lookups meanwhile; null when there were none. */
  readonly hitShare: number | null;
  /** Lookups that joined an evaluation under way. */
  readonly joinShare: number | null;
  readonly entries: number;
  readonly bytes: number;
  readonly limitBytes: number;
}

export interface ApplicationView {
  readonly name: string;
  readonly inputType: string;
  /** Elements that its models take; null: any number. */
  readonly inputLength: number | null;
  readonly policy: string;
  readonly objectiveMs: number;
  readonly answersPerSecond: number;
  /** What its policy gives each linked model, in order of linking. */
  readonly shares: readonly ShareView[];
}

export interface ShareView {
  readonly model: string;
  readonly version: string;
  readonly share: number;
}

export interface ModelView {
  readonly name: string;
  readonly version: string;
  readonly current: boolean;
  /** What runs it. */
  readonly container: string;
  readonly replicas: readonly ReplicaView[];
}

export interface ReplicaView {
  readonly replica: string;
  readonly state: 'starting' | 'warming' | 'up' | 'draining' | 'down';
  readonly restarts: number;
  readonly lastFailure: string | null;
  readonly queued: number;
  readonly inFlightInputs: number;
  /** The largest batch that is sent now; null while the replica is not in use. */
  readonly batchLimit: number | null;
}

export interface NodeView {
  readonly node: string;
  /** Host time over simulated time; null before the first batch. */
  readonly dilation: number | null;
  readonly gpus: readonly GpuView[];
}

/** SMs over the last sample of the node, in its simulated time. */
export interface GpuView {
  readonly gpu: number;
  readonly profile: string;
  /** Share of time with a resident block, one for each SM. */
  readonly busy: readonly number[];
  /** Mean resident blocks while busy. */
  readonly blocks: readonly number[];
}

export interface ClusterView {
  readonly frontends: readonly FrontendView[];
  readonly nodes: readonly MemberNodeView[];
}

export interface FrontendView {
  readonly name: string;
  /** It is the one that is asked. */
  readonly self: boolean;
  /** Of its query interface. */
  readonly address: string;
  readonly alive: boolean;
  /** It says which node runs which replica. */
  readonly places: boolean;
  readonly lastWordSeconds: number;
}

export interface MemberNodeView {
  readonly name: string;
  readonly address: string;
  /** Cards. */
  readonly gpus: readonly string[];
  readonly alive: boolean;
  readonly connected: boolean;
  /** Why it is not connected. */
  readonly problem: string | null;
  readonly cordoned: boolean;
  /** Placed on it. */
  readonly replicas: number;
  /** Of the last ping. */
  readonly roundTripSeconds: number | null;
  readonly lastWordSeconds: number;
}

export interface QueueView {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  readonly failed: number;
  readonly lagSeconds: number;
  /** Kept by this frontend until Redis is back. */
  readonly spooled: number;
}

export interface JobsView {
  readonly running: number;
  readonly done: number;
  readonly cancelled: number;
  /** Of running jobs, without an answer. */
  readonly linesPending: number;
  /** The longest time for which a running job has got no results. */
  readonly lagSeconds: number;
  /** Accepted by this frontend, and on their way to where all see them. */
  readonly spooled: number;
  /** Whose files are damaged. */
  readonly unreadable: number;
  /** Some of them: those that run first, then the newest. */
  readonly shown: readonly JobView[];
}

export interface JobView {
  readonly id: string;
  readonly application: string;
  readonly state: 'running' | 'done' | 'cancelled';
  readonly lines: number;
  readonly answered: number;
  readonly failed: number;
  /** Wall clock, milliseconds since 1970. */
  readonly createdMs: number;
}
