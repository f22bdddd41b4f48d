import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { BatchRecord, ReplicaStatus } from '../batching/index.js';
import type { CacheStats } from '../cache/index.js';
import type { NodePace } from '../deployment/index.js';
import type { ErrorCode } from '../errors/index.js';
import type { FrontendObserver } from '../frontend/index.js';
import {
  SilentObserver,
  type Answer,
  type BatchTrace,
  type FeedbackOutcome,
  type FeedbackRequest,
  type Query,
  type QueryRefusal,
  type TracedItem,
} from '../prediction/index.js';
import type { RegistryView } from '../registry/index.js';
import { addCacheMetrics } from './cacheMetrics.js';
import type { Complaint } from './complaint.js';
import { addConnectionMetrics, type ConnectionSources } from './connectionMetrics.js';
import { FailureLog } from './failureLog.js';
import { ModelMetrics } from './modelMetrics.js';
import { QueryMetrics } from './queryMetrics.js';
import type { QueryTap } from './queryTap.js';
import { traceDetail } from './traceDetail.js';

/** What is read when somebody scrapes; the engine has all of it, and is made after its observer. */
export interface TelemetrySources {
  cacheStats(): CacheStats;
  replicas(): readonly ReplicaStatus[];
  selectionShares(application: string): ReadonlyMap<string, number> | undefined;
  inFlight(): number;
}

/** Whoever traces batches. */
export interface BatchTracer {
  onBatchSent(
    model: string,
    version: string,
    replica: string,
    items: readonly TracedItem[],
  ): BatchTrace | undefined;
}

/** The Prometheus metrics of a frontend: counts what engine and frontend report, reads the rest when scraped. */
export class Telemetry extends SilentObserver implements FrontendObserver {
  private readonly registry = new Registry();
  private readonly queries: QueryMetrics;
  private readonly models: ModelMetrics;
  private readonly failures: FailureLog;
  private sources: TelemetrySources | undefined;
  private tap: QueryTap | undefined;
  private onBatchDone: (record: BatchRecord) => void = () => undefined;
  private nodePaces: () => readonly NodePace[] = () => [];
  /** Versions with series, so that those of deleted ones can go. */
  private readonly known = new Set<string>();
  private readonly unwatch: () => void;

  constructor(
    private readonly view: RegistryView,
    private complain: Complaint = () => undefined,
    private readonly tracer: BatchTracer | undefined = undefined,
  ) {
    super();
    collectDefaultMetrics({ register: this.registry });
    this.queries = new QueryMetrics(
      this.registry,
      (application) => view.application(application) !== undefined,
      () => this.shares(),
    );
    this.failures = new FailureLog((message, details) => this.complain(message, details), Date.now);
    this.models = new ModelMetrics(this.registry, () => this.sources?.replicas() ?? []);
    this.learnVersions();
    this.unwatch = view.watch(({ kind, name }) => this.onRegistryChange(kind, name));
    this.addNodeMetrics();
  }

  /** Must be called once, before the first scrape. */
  attach(sources: TelemetrySources, nodePaces: () => readonly NodePace[]): void {
    this.sources = sources;
    this.nodePaces = nodePaces;
    addCacheMetrics(this.registry, () => sources.cacheStats());
  }

  /** Passes on what comes from here on; undefined: to nobody. */
  watch(tap: QueryTap | undefined): void {
    this.tap = tap;
  }

  /** Passes on every batch, beside what a tap hears. */
  watchBatches(listener: (record: BatchRecord) => void): void {
    this.onBatchDone = listener;
  }

  /** @param open tells how many WebSockets are. */
  watchWebSockets(open: () => number): void {
    new Gauge({
      name: 'windjammer_websockets',
      help: 'WebSocket connections that are open',
      registers: [this.registry],
      collect() {
        this.set(open());
      },
    });
  }

  /** Must be called once, before the first scrape. */
  watchConnections(sources: ConnectionSources): void {
    addConnectionMetrics(this.registry, sources);
  }

  /** The Prometheus text format. */
  async text(): Promise<{ readonly contentType: string; readonly text: string }> {
    return { contentType: this.registry.contentType, text: await this.registry.metrics() };
  }

  /** From here on nothing is counted or complained about: what comes is the shutdown itself. */
  close(): void {
    this.complain = () => undefined;
    this.tap = undefined;
    this.unwatch();
    this.registry.clear();
  }

  onRefused(application: string | undefined, code: ErrorCode): void {
    this.queries.onRefused(application, code);
    this.tap?.onRefused(application, code);
  }

  override onAnswer(query: Query, answer: Answer): void {
    query.trace?.onAnswer(answer);
    this.queries.onAnswer(query, answer);
    this.tap?.onAnswer(query, answer);
  }

  override onRefusal(query: Query, refusal: QueryRefusal): void {
    query.trace?.onRefusal(refusal);
  }

  override onCancel(query: Query): void {
    query.trace?.onCancel();
    this.queries.onCancel(query);
    this.tap?.onCancel(query);
  }

  override onLatePrediction(application: string, model: string, version: string): void {
    this.queries.onLatePrediction(application, model, version);
  }

  override onFeedback(feedback: FeedbackRequest, outcome: FeedbackOutcome): void {
    this.queries.onFeedback(feedback.application, outcome);
    this.tap?.onFeedback(feedback, outcome);
  }

  override onBatchSent(
    model: string,
    version: string,
    replica: string,
    items: readonly TracedItem[],
  ): BatchTrace | undefined {
    return this.tracer?.onBatchSent(model, version, replica, items);
  }

  override onBatch(record: BatchRecord): void {
    record.trace?.onEnd(record);
    this.models.onBatch(record);
    this.tap?.onBatch(record);
    this.onBatchDone(record);
    if (record.failure !== undefined) this.failures.note(record, record.failure);
  }

  override onReplicaDown(model: string, version: string, replica: string): void {
    this.models.onReplicaDown(model, version, replica);
  }

  override onProtocolError(model: string, version: string, replica: string, message: string): void {
    this.models.onProtocolError(model, version, replica);
    this.complain('container broke the protocol', { model, version, replica, reason: message });
  }

  override onReplicaRefused(model: string, version: string, replica: string, reason: string): void {
    // A container that failed before it said who it is: whoever started it knows.
    if (model !== '') this.complain('replica refused', { model, version, replica, reason });
  }

  override onSinkFailure(query: Query, error: unknown): void {
    const detail = traceDetail(query.traceparent);
    this.complain('an answer could not be handed over', { queryId: query.id, ...detail, error });
  }

  override onStateWriteFailed(key: string, message: string): void {
    this.complain('learned weights could not be written', { key, reason: message });
  }

  private *shares(): Iterable<readonly [string, string, number]> {
    for (const { name } of this.view.applications()) {
      for (const [model, share] of this.sources?.selectionShares(name) ?? []) yield [name, model, share];
    }
  }

  private onRegistryChange(kind: string, name: string): void {
    if (kind === 'application' && this.view.application(name) === undefined) this.queries.forget(name);
    if (kind !== 'model') return;
    for (const key of [...this.known]) {
      const [model, version] = key.split(':');
      if (this.view.model(model, version) !== undefined) continue;
      this.known.delete(key);
      this.models.forget(model, version);
      this.failures.forget(model, version);
    }
    this.learnVersions();
  }

  private learnVersions(): void {
    // Neither names nor versions can hold a colon.
    for (const { name: model, version } of this.view.models()) this.known.add(`${model}:${version}`);
  }

  private addNodeMetrics(): void {
    const registers = [this.registry];
    const paces = () => this.nodePaces();
    const inFlight = () => this.sources?.inFlight() ?? 0;
    new Gauge({
      name: 'windjammer_gpu_node_dilation',
      help: 'Host time a GPU node takes for its simulated time; above 1.2 its timing means nothing',
      labelNames: ['node'],
      registers,
      collect() {
        this.reset();
        for (const { node, dilation } of paces()) this.set({ node }, dilation);
      },
    });
    new Gauge({
      name: 'windjammer_queries_in_flight',
      help: 'Queries without an answer yet',
      registers,
      collect() {
        this.set(inFlight());
      },
    });
  }
}
