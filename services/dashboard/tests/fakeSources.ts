import type { NodeReport } from '../../../containers/runtime/index.js';
import type { Answer, CacheStats, Query, ReplicaStatus } from '../../prediction/index.js';
import { Registry } from '../../registry/index.js';
import { MemoryStore } from '../../store/index.js';
import type { QueryTap } from '../../telemetry/index.js';
import type { DashboardSources } from '../index.js';

const NO_CACHE: CacheStats = {
  requests: 0,
  hits: 0,
  joins: 0,
  misses: 0,
  insertions: 0,
  evictions: 0,
  removals: 0,
  refusals: 0,
  entries: 0,
  bytes: 0,
  limitBytes: 1000,
  pending: 0,
};

/** A server of whom a test says what it sees. */
export class FakeSources implements DashboardSources {
  readonly registry = new Registry(new MemoryStore());
  /** The tap that is attached; undefined while nobody watches. */
  tap: QueryTap | undefined;
  atMs = 1_000_000;
  /** How often a frame was put together. */
  frames = 0;
  cache: CacheStats = NO_CACHE;
  queues: ReplicaStatus[] = [];
  reports: NodeReport[] = [];
  shares = new Map<string, ReadonlyMap<string, number>>();

  readonly nowMs = (): number => this.atMs;
  readonly deployed: DashboardSources['deployed'] = () => [];
  readonly replicas = (): readonly ReplicaStatus[] => this.queues;
  readonly cacheStats = (): CacheStats => this.cache;
  readonly selectionShares = (name: string): ReadonlyMap<string, number> | undefined => this.shares.get(name);
  readonly inFlight = (): number => {
    this.frames += 1;
    return 3;
  };
  readonly nodes = (): readonly NodeReport[] => this.reports;
  readonly cluster: DashboardSources['cluster'] = () => undefined;
  readonly queue: DashboardSources['queue'] = () => undefined;
  readonly watch = (tap: QueryTap | undefined): void => {
    this.tap = tap;
  };

  answer(application: string, latencyMs: number, isDefault = false): void {
    const query: Query = { id: 'q', application, input: new Uint8Array(8), context: '' };
    const answer: Answer = {
      queryId: 'q',
      output: '1',
      isDefault,
      models: [],
      confidence: 1,
      cached: false,
      latencyNs: latencyMs * 1e6,
    };
    this.tap?.onAnswer(query, answer);
  }

  batch(model: string, version: string, size: number): void {
    this.tap?.onBatch({
      model,
      version,
      replica: '0',
      size,
      limit: 8,
      newLimit: 8,
      longestQueueNs: 0,
      totalQueueNs: 0,
      serviceNs: 1000,
      roundTripNs: 2000,
      failed: 0,
      failure: undefined,
    });
  }

  async addModel(name: string, application?: string, inputLength?: number): Promise<void> {
    await this.registry.addModel({
      name,
      version: '1',
      inputType: 'doubles',
      labels: [],
      container: { kind: 'constant', output: '1' },
      batching: { strategy: 'aimd' },
      ...(inputLength === undefined ? {} : { inputLength }),
    });
    if (application !== undefined) await this.registry.addLinks(application, [name]);
  }

  addApplication(name: string): Promise<void> {
    return this.registry.addApplication({
      name,
      inputType: 'doubles',
      defaultOutput: '0',
      latencyObjectiveUs: 20_000,
      policy: { name: 'static', parameters: {} },
    });
  }
}
