import type { NodeReport } from '../../containers/runtime/index.js';
import type { ReplicaStatus as DeployedReplica } from '../deployment/index.js';
import type { CacheStats, ReplicaStatus } from '../prediction/index.js';
import type { ModelRecord, RegistryView } from '../registry/index.js';
import type { Traffic } from '../telemetry/index.js';
import type {
  ApplicationView,
  CacheView,
  Change,
  ClusterView,
  FeedFrame,
  JobsView,
  ModelView,
  QueueView,
  ReplicaView,
} from './feedFrame.js';
import { GpuViews } from './gpuViews.js';
import { JobsWatch } from './jobsWatch.js';
import { TrafficReader, type TrafficFigures } from './trafficReader.js';

/** Where a frame's parts come from. */
export interface DashboardSources {
  readonly registry: RegistryView;
  /** Wall clock, milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Replicas as they were started, and as they are queued for. */
  readonly deployed: () => readonly DeployedReplica[];
  readonly replicas: () => readonly ReplicaStatus[];
  readonly cacheStats: () => CacheStats;
  readonly selectionShares: (application: string) => ReadonlyMap<string, number> | undefined;
  readonly inFlight: () => number;
  readonly nodes: () => readonly NodeReport[];
  /** undefined: there is none. */
  readonly cluster: () => ClusterView | undefined;
  readonly queue: () => QueueView | undefined;
  /** Rejects while it cannot be known. */
  readonly jobs: () => Promise<JobsView | undefined>;
  /** What has been counted so far. */
  readonly traffic: () => Traffic;
  /** Tells of changes from here on; returns the unsubscriber. */
  readonly watchChanges: (listener: (change: Change) => void) => () => void;
  /** From here on SMs are counted, or not any more. */
  readonly watchSms: (watched: boolean) => void;
}

/** Entries of each list in a frame. */
export const MOST_APPLICATIONS = 50;
export const MOST_MODELS = 100;

/** Of frontends, and of nodes: those that are alive first. */
export const MOST_MEMBERS = 100;

/** Puts frames together while somebody watches. */
export class FrameSource {
  private readonly traffic: TrafficReader;
  private readonly jobs: JobsWatch;
  private readonly gpus = new GpuViews();
  private lastMs: number;
  private lastCache: CacheStats;

  constructor(private readonly sources: DashboardSources) {
    this.lastMs = sources.nowMs();
    this.lastCache = sources.cacheStats();
    this.traffic = new TrafficReader(sources.traffic);
    this.jobs = new JobsWatch(sources.jobs);
    sources.watchSms(true);
  }

  close(): void {
    this.sources.watchSms(false);
  }

  frame(): FeedFrame {
    const { registry, nowMs, replicas, inFlight, nodes } = this.sources;
    const atMs = nowMs();
    // The wall's clock may be set back.
    const seconds = Math.max(0, atMs - this.lastMs) / 1000;
    this.lastMs = atMs;
    const traffic = this.traffic.take(seconds);
    this.jobs.look();
    const queues = replicas();
    const applications = registry.applications();
    const models = registry.models();
    return {
      atMs,
      seconds,
      queries: traffic.queries,
      latency: traffic.latency,
      queued: queues.reduce((sum, { queued }) => sum + queued, 0),
      inFlightInputs: queues.reduce((sum, { inFlightItems }) => sum + inFlightItems, 0),
      inFlightQueries: inFlight(),
      cache: this.cache(),
      applications: applications
        .slice(0, MOST_APPLICATIONS)
        .map(({ name }) => this.application(name, traffic)),
      models: this.models(models.slice(0, MOST_MODELS), queues),
      nodes: this.gpus.nodes(nodes()),
      cluster: shortened(this.sources.cluster()),
      queue: this.sources.queue() ?? null,
      jobs: this.jobs.view ?? null,
      omitted: {
        applications: Math.max(0, applications.length - MOST_APPLICATIONS),
        models: Math.max(0, models.length - MOST_MODELS),
      },
    };
  }

  private cache(): CacheView {
    const stats = this.sources.cacheStats();
    const before = this.lastCache;
    this.lastCache = stats;
    const lookups = stats.requests - before.requests;
    const share = (count: number): number | null => (lookups > 0 ? count / lookups : null);
    const { entries, bytes, limitBytes } = stats;
    return {
      hitShare: share(stats.hits - before.hits),
      joinShare: share(stats.joins - before.joins),
      entries,
      bytes,
      limitBytes,
    };
  }

  private application(name: string, traffic: TrafficFigures): ApplicationView {
    const { registry, selectionShares } = this.sources;
    const record = registry.application(name);
    if (record === undefined) throw new Error(`application '${name}' left the registry while it was listed`);
    const linked = registry.linkedModels(name);
    const shares = selectionShares(name);
    return {
      name,
      inputType: record.inputType,
      inputLength: linked.find(({ inputLength }) => inputLength !== undefined)?.inputLength ?? null,
      policy: record.policy.name,
      objectiveMs: record.latencyObjectiveUs / 1000,
      answersPerSecond: traffic.applications.get(name) ?? 0,
      shares: linked.map(({ name: model, version }) => ({ model, version, share: shares?.get(model) ?? 0 })),
    };
  }

  private models(records: readonly ModelRecord[], queues: readonly ReplicaStatus[]): ModelView[] {
    const { registry, deployed } = this.sources;
    const key = (...parts: readonly (string | number)[]): string => JSON.stringify(parts);
    const queueOf = new Map(queues.map((queue) => [key(queue.model, queue.version, queue.replica), queue]));
    const replicasOf = new Map<string, ReplicaView[]>();
    for (const { model, version, replica, state, restarts, lastFailure } of deployed()) {
      const queue = queueOf.get(key(model, version, String(replica)));
      const of = key(model, version);
      let views = replicasOf.get(of);
      if (views === undefined) replicasOf.set(of, (views = []));
      views.push({
        replica: String(replica),
        state,
        restarts,
        lastFailure: lastFailure ?? null,
        queued: queue?.queued ?? 0,
        inFlightInputs: queue?.inFlightItems ?? 0,
        batchLimit: queue?.maxBatchSize ?? null,
      });
    }
    return records.map(({ name, version, container }) => ({
      name,
      version,
      current: registry.currentVersion(name) === version,
      container: container.kind === 'external' ? container.containerName : container.kind,
      replicas: replicasOf.get(key(name, version)) ?? [],
    }));
  }
}

function shortened(cluster: ClusterView | undefined): ClusterView | null {
  if (cluster === undefined) return null;
  const short = <T extends { readonly alive: boolean }>(members: readonly T[]): readonly T[] =>
    [...members].sort((a, b) => Number(b.alive) - Number(a.alive)).slice(0, MOST_MEMBERS);
  return { frontends: short(cluster.frontends), nodes: short(cluster.nodes) };
}
