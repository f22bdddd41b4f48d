import type { LoggedFeedback } from '../../selection/index.js';
import { hostname } from 'node:os';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { BatchingObserver, BatchRecord, ReplicaStatus } from '../batching/index.js';
import type { CacheStats } from '../cache/index.js';
import type { Complaint, ErrorCode } from '../errors/index.js';
import type { FeedbackFate } from '../feedbackQueue/index.js';
import type { FrontendObserver, RefusedPart } from '../frontend/index.js';
import type { JobsState } from '../jobs/index.js';
import {
  SilentObserver,
  type Answer,
  type BatchTrace,
  type FeedbackOutcome,
  type FeedbackRequest,
  type ModelVote,
  type Query,
  type QueryRefusal,
  type TracedItem,
} from '../prediction/index.js';
import type { MetricsFormat } from '../metrics/index.js';
import type { PolicyFault } from '../policyFiles/index.js';
import type { RegistryView } from '../registry/index.js';
import { contextFamilies, type CountsOfApplication } from './contextMetrics.js';
import { cacheFamilies, type LookupsOfModel } from './cacheMetrics.js';
import { clusterFamilies, type ClusterSources } from './clusterMetrics.js';
import { connectionFamilies, type ConnectionSources } from './connectionMetrics.js';
import { deploymentFamilies, type DeploymentSources } from './deploymentMetrics.js';
import { feedbackQueueFamilies, type FeedbackQueueState } from './feedbackMetrics.js';
import { DiskRoom } from './diskRoom.js';
import { FailureLog } from './failureLog.js';
import { gpuFamilies } from './gpuMetrics.js';
import { jobFamilies } from './jobMetrics.js';
import type { MetricFamily } from './metricFamily.js';
import { ModelMetrics } from './modelMetrics.js';
import { PolicyFileMetrics, type PolicyFileStatus } from './policyFileMetrics.js';
import { QueryMetrics } from './queryMetrics.js';
import { SingleFlight } from './singleFlight.js';
import {
  sharedStoreFamilies,
  storeFamilies,
  type SharedStoreSources,
  type StoreSources,
} from './storeMetrics.js';
import { asOpenMetrics, familyText } from './textFormat.js';
import type { Traffic } from './traffic.js';
import { traceDetail } from './traceDetail.js';
import { verdictFamilies } from './verdictMetrics.js';

/** What is read when somebody scrapes; the engine has all of it, and is made after its observer. */
export interface TelemetrySources {
  cacheStats(): CacheStats;
  lookups(): Iterable<LookupsOfModel>;
  replicas(): readonly ReplicaStatus[];
  selectionShares(application: string): ReadonlyMap<string, number> | undefined;
  policyFiles(): readonly PolicyFileStatus[];
  contextCounts(): Iterable<CountsOfApplication>;
}

/** What a scrape is answered. */
export interface MetricsText {
  readonly contentType: string;
  /** UTF-8; of all who asked together, as large answers that are not read would be kept for each of them. */
  readonly bytes: Uint8Array;
}

const CONTENT_TYPES: Readonly<Record<MetricsFormat, string>> = {
  prometheus: Registry.PROMETHEUS_CONTENT_TYPE,
  openMetrics: Registry.OPENMETRICS_CONTENT_TYPE,
};

/** Whoever traces batches. */
export type BatchTracer = Pick<BatchingObserver, 'onBatchSent'>;

/** The Prometheus metrics of a frontend: counts what engine and frontend report, reads the rest when scraped. */
export class Telemetry extends SilentObserver implements FrontendObserver {
  /** Of the process, from the library. */
  private readonly registry = new Registry();
  private families: readonly MetricFamily[] = [];
  private readonly texts = {
    prometheus: new SingleFlight(() => this.makeText('prometheus')),
    openMetrics: new SingleFlight(() => this.makeText('openMetrics')),
  } as const;
  private readonly queries: QueryMetrics;
  private readonly models: ModelMetrics;
  private readonly failures: FailureLog;
  private readonly policyFiles: PolicyFileMetrics;
  private onPolicyTold: (application: string, fault: PolicyFault) => void = () => undefined;
  private sources: TelemetrySources | undefined;
  private refusedStateWrites = 0;
  private onArrival: ((query: Query) => void) | undefined;
  private onJudgement: ((judged: LoggedFeedback) => void) | undefined;
  private onBatchDone: (record: BatchRecord) => void = () => undefined;
  private readonly unwatch: () => void;

  constructor(
    private readonly view: RegistryView,
    private complain: Complaint = () => undefined,
    private readonly tracer: BatchTracer | undefined = undefined,
  ) {
    super();
    collectDefaultMetrics({ register: this.registry });
    this.queries = new QueryMetrics(
      (application) => view.application(application),
      () => view.applications(),
      () => this.shares(),
      Date.now,
    );
    this.failures = new FailureLog((message, details) => this.complain(message, details), Date.now);
    this.models = new ModelMetrics(
      (model, version) => view.model(model, version) !== undefined,
      () => this.sources?.replicas() ?? [],
    );
    this.policyFiles = new PolicyFileMetrics(
      (message, details) => this.complain(message, details),
      Date.now,
      () => this.sources?.policyFiles() ?? [],
    );
    this.add([...this.queries.families(), ...this.models.families(), ...this.policyFiles.families()]);
    this.unwatch = view.watch(({ kind, name }) => this.onRegistryChange(kind, name));
  }

  /** Must be called once, before the first scrape. */
  attach(sources: TelemetrySources, deployment: DeploymentSources): void {
    this.sources = sources;
    this.add([
      ...cacheFamilies(
        () => sources.cacheStats(),
        () => sources.lookups(),
      ),
      ...contextFamilies(() => sources.contextCounts()),
      ...deploymentFamilies(deployment),
      ...gpuFamilies(() => deployment.nodes(), hostname()),
      ...verdictFamilies(() => deployment.nodes()),
    ]);
  }

  /** What has been counted so far, for whoever looks again later. */
  traffic(): Traffic {
    const { queries, models } = this;
    return {
      applications: queries.traffic(),
      models: models.traffic(),
      refusedUnknown: queries.refusedUnknown(),
    };
  }

  /** Passes on every query that comes from here on; undefined: to nobody. Called on the hot path: keep it and return. */
  watchArrivals(listener: ((query: Query) => void) | undefined): void {
    this.onArrival = listener;
  }

  /** Passes on every judged query that comes from here on; undefined: to nobody. */
  watchJudged(listener: ((judged: LoggedFeedback) => void) | undefined): void {
    this.onJudgement = listener;
  }

  override get writesFeedback(): boolean {
    return this.onJudgement !== undefined;
  }

  /** Passes on a policy file's failure, of each kind now and then. */
  watchPolicyFiles(listener: (application: string, fault: PolicyFault) => void): void {
    this.onPolicyTold = listener;
  }

  /** Passes on every batch. */
  watchBatches(listener: (record: BatchRecord) => void): void {
    this.onBatchDone = listener;
  }

  /** Must be called once, before the first scrape. */
  watchConnections(sources: ConnectionSources): void {
    this.add(connectionFamilies(sources));
  }

  /**
   * Must be called once, before the first scrape.
   * @param shared the same store, where several servers have it
   * @param dataDirectory undefined: there is none
   */
  watchStore(sources: StoreSources, shared?: SharedStoreSources, dataDirectory?: string): void {
    const disk = dataDirectory === undefined ? undefined : new DiskRoom(dataDirectory);
    this.add(storeFamilies(sources, disk, () => this.refusedStateWrites));
    if (shared !== undefined) this.add(sharedStoreFamilies(shared));
  }

  /**
   * Must be called once, before the first scrape.
   * @param state undefined where feedback goes by no queue
   */
  watchFeedback(state: () => FeedbackQueueState | undefined): void {
    this.add(feedbackQueueFamilies(state));
  }

  /** Must be called once, before the first scrape. */
  watchCluster(sources: ClusterSources): void {
    this.add(clusterFamilies(sources));
  }

  /** Must be called once, before the first scrape. */
  watchJobs(state: () => JobsState): void {
    this.add(jobFamilies(state));
  }

  /** What became of feedback that was queued. */
  onFeedbackFate(application: string, fate: FeedbackFate): void {
    this.queries.onFeedbackFate(application, fate);
  }

  /**
   * Queries go on between one metric and the next; whoever asks while it is put together shares
   * the next one.
   */
  text(format: MetricsFormat): Promise<MetricsText> {
    return this.texts[format].next();
  }

  private async makeText(format: MetricsFormat): Promise<MetricsText> {
    const ofProcess = await this.registry.metrics();
    const texts = [format === 'openMetrics' ? asOpenMetrics(ofProcess) : ofProcess];
    for (const family of this.families) {
      texts.push(familyText(family, format));
      await turn();
    }
    if (format === 'openMetrics') texts.push('# EOF\n');
    return { contentType: CONTENT_TYPES[format], bytes: Buffer.from(texts.join('')) };
  }

  /** From here on nothing is counted or complained about: what comes is the shutdown itself. */
  close(): void {
    this.complain = () => undefined;
    this.onArrival = undefined;
    this.onJudgement = undefined;
    this.unwatch();
    this.registry.clear();
    this.families = [];
  }

  onRefused(application: string | undefined, code: ErrorCode, part: RefusedPart = 'query'): void {
    this.queries.onRefused(application, code, part === 'query');
  }

  override onQuery(query: Query): void {
    this.onArrival?.(query);
  }

  override onAnswer(query: Query, answer: Answer): void {
    query.trace?.onAnswer(answer);
    this.queries.onAnswer(query, answer);
  }

  override onRefusal(query: Query, refusal: QueryRefusal): void {
    query.trace?.onRefusal(refusal);
  }

  override onModelCall(vote: ModelVote | undefined, latencyNs: number, budgetNs: number): void {
    this.queries.onModelCall(vote, latencyNs, budgetNs);
  }

  override onModelFailure(query: Query, model: string, version: string, reason: string): void {
    this.failures.noteQuery(query, model, version, reason);
  }

  override onCancel(query: Query): void {
    query.trace?.onCancel();
    this.queries.onCancel(query);
  }

  override onLatePrediction(application: string, model: string, version: string): void {
    this.queries.onLatePrediction(application, model, version);
  }

  override onFeedback(feedback: FeedbackRequest, outcome: FeedbackOutcome): void {
    this.queries.onFeedback(feedback.application, outcome);
  }

  override onJudged(judged: LoggedFeedback): void {
    this.onJudgement?.(judged);
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
    this.onBatchDone(record);
    if (record.failure !== undefined) this.failures.note(record, record.failure);
  }

  override onReplicaDown(model: string, version: string, replica: string): void {
    this.models.onReplicaDown(model, version, replica);
  }

  override onRequeued(model: string, version: string, replica: string, inputs: number): void {
    this.models.onRequeued(model, version, replica, inputs);
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

  /** Not complained about one by one: the store's fault is. */
  override onStateWriteFailed(): void {
    this.refusedStateWrites += 1;
  }

  override onPolicyFault(application: string, fault: PolicyFault): void {
    if (this.policyFiles.onFault(application, fault)) this.onPolicyTold(application, fault);
  }

  override onPolicyFallback(application: string): void {
    this.policyFiles.onFallback(application);
  }

  override onPolicyPrinted(application: string, text: string): void {
    this.complain('a policy printed', { application, text });
  }

  private *shares(): Iterable<readonly [string, string, number]> {
    for (const { name } of this.view.applications()) {
      for (const [model, share] of this.sources?.selectionShares(name) ?? []) yield [name, model, share];
    }
  }

  private onRegistryChange(kind: string, name: string): void {
    if (kind === 'application' && this.view.application(name) === undefined) {
      this.queries.forget(name);
      this.policyFiles.forget(name);
    }
    if (kind !== 'model') return;
    for (const key of [...this.models.known()]) {
      const [model, version] = key.split(':');
      if (this.view.model(model, version) !== undefined) continue;
      this.models.forget(model, version);
      this.queries.forgetModel(model, version);
      this.failures.forget(model, version);
    }
  }

  private add(families: readonly MetricFamily[]): void {
    this.families = [...this.families, ...families];
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
