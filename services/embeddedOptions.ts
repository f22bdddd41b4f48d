import type { FaultSettings } from '../simulator/cluster/index.js';
import type { AccessSettings } from './access/index.js';
import type { BundleStore } from './bundles/index.js';
import type { AutoscalingSettings, DialledNodes } from './deployment/index.js';
import type { ClipperOption } from './dialIn.js';
import type { Complaint } from './errors/index.js';
import type { FeedbackQueueMaker } from './feedbackQueue/index.js';
import type { ConnectionTimeouts, TlsSettings } from './http/index.js';
import type { SharedJobsMaker } from './jobQueue/index.js';
import type { PredictionEngineOptions } from './prediction/index.js';
import type { RedisConnection } from './redis/index.js';
import type { SharedStore } from './store/index.js';
import type { Tracing } from './tracing/index.js';

/** The nodes of a cluster, found through the Redis that its frontends share. */
export interface ClusterOption extends Pick<DialledNodes, 'key' | 'tls'> {
  readonly open: () => Promise<RedisConnection>;
  /** Of all keys, without braces. */
  readonly prefix: string;
  /** A folder that all frontends and nodes see, for the files of models; in Redis unless given. */
  readonly bundleFolder?: string | undefined;
}

/** What an embedded server is started with. */
export interface EmbeddedOptions {
  readonly host: string;
  /** 0: the system picks one. */
  readonly port: number;
  readonly managementHost: string;
  readonly managementPort: number;
  /** undefined: nothing is kept on this machine. */
  readonly dataDirectory: string | undefined;
  /** Opens a store that several servers share, in place of the one in the data directory. */
  readonly openSharedStore?: (() => Promise<SharedStore>) | undefined;
  /** Connects a queue for feedback, which is learned at once otherwise. */
  readonly openFeedbackQueue?: (() => Promise<FeedbackQueueMaker>) | undefined;
  /** Connects batch jobs that several servers share, in place of those in the data directory. */
  readonly openJobQueue?: (() => Promise<SharedJobsMaker>) | undefined;
  /** Connects to where servers that share a store, and no nodes, keep files of models; in the data directory otherwise. */
  readonly openSharedBundles?:
    (() => Promise<{ readonly bundles: BundleStore; readonly close: () => void }>) | undefined;
  /** Of every random draw. */
  readonly seed: number;
  /** Of batch jobs, inputs and results together; 4 GiB by default. */
  readonly jobsBytes?: number;
  readonly cacheBytes?: number;
  /** What is kept of contexts, in memory and in the store. */
  readonly contexts?: PredictionEngineOptions['contexts'];
  /** Cards of each node's GPUs; one H200 by default. */
  readonly gpus?: readonly string[] | undefined;
  /** GPU nodes, each a thread with these GPUs; 1 by default. */
  readonly nodes?: number | undefined;
  /** Threads of each node that run the blocks of large kernel launches; 1 by default. */
  readonly gpuThreads?: number;
  /** Nodes in processes of their own. */
  readonly dialled?: DialledNodes | undefined;
  /** Nodes that have joined a cluster, in place of all others; with a store that is shared. */
  readonly cluster?: ClusterOption | undefined;
  /** Unless given, no container can dial in. */
  readonly clipper?: ClipperOption | undefined;
  /** Who runs next on a GPU: a policy's name, or the file of one; 'fifo' by default. */
  readonly scheduling?: string;
  /** Transient faults that strike launches, and what is done about them; none by default. */
  readonly faults?: FaultSettings;
  /** When a replica that answers nothing counts as lost; false: never. */
  readonly hangWatchdog?: PredictionEngineOptions['hangWatchdog'];
  readonly maxBodyBytes?: number;
  /** Of a WebSocket's message. */
  readonly maxMessageBytes?: number | undefined;
  /** Of all bodies and messages under way together. */
  readonly maxBufferedBytes?: number | undefined;
  /** Inputs that a client's batch may have. */
  readonly maxBatchInputs?: number;
  /** Of connections of the query interface. */
  readonly timeouts?: ConnectionTimeouts;
  /** Origins of web pages that may ask and open a WebSocket, beside the server's own; `*`: any. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Clients of the query interface may load and unload models. */
  readonly isRepositoryControlled?: boolean;
  /** Of the query interface, WebSockets among them. */
  readonly maxConnections?: number;
  readonly maxWebSockets?: number;
  /** Unless given, nobody is asked for a key. */
  readonly access?: AccessSettings;
  /** Unless given, both interfaces speak plain HTTP. */
  readonly tls?: TlsSettings;
  /** Registers the applications that come with the product, in a fresh data directory. */
  readonly withDefaults: boolean;
  readonly complain: Complaint;
  /** What is changed, and by whom, for the log. */
  readonly announce: Complaint;
  readonly autoscaling?: AutoscalingSettings;
  /** Once it is settled, the start waits for no container any more: whoever stops a server waits for none. */
  readonly stopped?: Promise<unknown>;
  /** Closed with the server. */
  readonly tracing?: Tracing | undefined;
}

/** How long a drain may take: notice for load balancers first, then grace for what is in flight. */
export interface DrainTimes {
  readonly noticeMs: number;
  readonly graceMs: number;
  /** Later queries are refused for so long at least, within the grace, before nobody listens any more. */
  readonly refusalMs?: number;
}
