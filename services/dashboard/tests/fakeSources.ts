import type { NodeReport } from '../../../containers/runtime/index.js';
import type { Answer, CacheStats, Query, ReplicaStatus } from '../../prediction/index.js';
import { Registry, type ApplicationRecord } from '../../registry/index.js';
import { MemoryStore } from '../../store/index.js';
import { Telemetry } from '../../telemetry/index.js';
import type { Change, DashboardSources } from '../index.js';

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
  /** Counts for every application, registered or not. */
  readonly telemetry = new Telemetry(this.view());
  /** Whether SMs are counted. */
  areSmsWatched = false;
  /** Tells of a change. */
  change: (change: Change) => void = () => undefined;
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
  readonly traffic = () => this.telemetry.traffic();
  jobs: DashboardSources['jobs'] = () => Promise.resolve(undefined);
  readonly watchSms = (watched: boolean): void => {
    this.areSmsWatched = watched;
  };
  readonly watchChanges: DashboardSources['watchChanges'] = (listener) => {
    this.change = listener;
    return () => {
      this.change = () => undefined;
    };
  };

  /** @param defaultReason of a default output */
  answer(application: string, latencyMs: number, defaultReason?: Answer['defaultReason']): void {
    const query: Query = { id: 'q', application, input: new Uint8Array(8), context: '' };
    const answer: Answer = {
      queryId: 'q',
      output: '1',
      isDefault: defaultReason !== undefined,
      ...(defaultReason === undefined ? {} : { defaultReason }),
      models: [],
      confidence: 1,
      cached: false,
      latencyNs: latencyMs * 1e6,
    };
    this.telemetry.onAnswer(query, answer);
  }

  batch(model: string, version: string, size: number, queuedMs = 0, roundTripMs = 0.002): void {
    this.telemetry.onBatch({
      model,
      version,
      replica: '0',
      size,
      limit: 8,
      newLimit: 8,
      longestQueueNs: queuedMs * 1e6,
      totalQueueNs: 0,
      serviceNs: 1000,
      roundTripNs: roundTripMs * 1e6,
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
    return this.registry.addApplication(recordOf(name));
  }

  private view(): Registry {
    const { registry } = this;
    const application = (name: string): ApplicationRecord => registry.application(name) ?? recordOf(name);
    return Object.assign(Object.create(registry) as Registry, { application, model: () => ({}) });
  }
}

function recordOf(name: string): ApplicationRecord {
  return {
    name,
    inputType: 'doubles',
    defaultOutput: '0',
    latencyObjectiveUs: 20_000,
    policy: { name: 'static', parameters: {} },
  };
}
