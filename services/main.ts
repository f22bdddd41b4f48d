import type { AddressInfo } from 'node:net';
import { contextFolders } from './feedback/index.js';
import { randomBytes } from 'node:crypto';
import { PacedClock } from '../simulator/time/index.js';
import { ServerAccess } from './access/index.js';
import { AutomaticEvents } from './automaticEvents.js';
import { HASH_KEY_BYTES } from './cache/index.js';
import { CanaryVerdicts } from './canaryVerdicts.js';
import { watchMarks } from './eventMarks.js';
import { clusterView } from './clusterView.js';
import { Dashboard, managementPage } from './dashboard/index.js';
import {
  Autoscaler,
  declareManifestRanges,
  Deployer,
  GpuCapacity,
  keepDeclared,
  ModelLoader,
  type ReplicaStatus,
  ServedVersions,
  type ServerRuntime,
} from './deployment/index.js';
import { DialIn, tellOfUnreachable } from './dialIn.js';
import type { DrainTimes, EmbeddedOptions } from './embeddedOptions.js';
import type { ServiceError } from './errors/index.js';
import { EventLog } from './events/index.js';
import type { FeedbackQueue, FeedbackQueueMaker } from './feedbackQueue/index.js';
import { LineQueries, QueryFrontend } from './frontend/index.js';
import { BodyBudget, originOf, ServerCertificates } from './http/index.js';
import { JOB_OPERATIONS, jobRoutes } from './jobs/index.js';
import { choiceOf, ManagementServer, registerDefaults } from './management/index.js';
import { notedRepository } from './notedRepository.js';
import { PredictionEngine } from './prediction/index.js';
import { isHosted, Registry } from './registry/index.js';
import { Readiness } from './readiness.js';
import { openJobs, ServerJobs, type OpenJobs } from './serverJobs.js';
import { makeRuntime, type MadeRuntime } from './serverRuntime.js';
import { closed, openStores, type Stores } from './serverStores.js';
import type { Store, StoreFault } from './store/index.js';
import { ArrivalRecorder } from './arrivals/index.js';
import { Telemetry, traceDetail } from './telemetry/index.js';
import type { Tracing } from './tracing/index.js';

export type { ClusterOption, DrainTimes, EmbeddedOptions } from './embeddedOptions.js';

/**
 * Everything in one process: query and management interface, engine and store on the main thread, containers where the
 * runtime puts them.
 */
export class EmbeddedServer {
  private constructor(
    readonly registry: Registry,
    readonly queryAddress: AddressInfo,
    readonly managementAddress: AddressInfo,
    /** Where containers built for Clipper dial in; undefined: nowhere. */
    readonly containerAddress: AddressInfo | undefined,
    private readonly parts: Parts,
  ) {}

  /**
   * Listens at once; returns when every container is up or has failed to start. Ready from then on, or from the moment
   * that the first one is up.
   * @throws StoreError, ListenError, TlsError, AccessError, RedisError
   */
  static async start(options: EmbeddedOptions): Promise<EmbeddedServer> {
    const stores = await openStores(options);
    const { store } = stores;
    let feedback: FeedbackQueueMaker | undefined;
    try {
      feedback = await options.openFeedbackQueue?.();
    } catch (error) {
      await closed(stores);
      throw error;
    }
    const clock = new PacedClock();
    const { gpus } = options;
    const registry = new Registry(store);
    let made: MadeRuntime;
    try {
      made = await makeRuntime(options, { clock, registry, store, frontend: stores.frontend });
    } catch (error) {
      feedback?.close();
      await closed(stores);
      clock.close();
      throw error;
    }
    const { runtime, cluster } = made;
    let parts: Parts;
    try {
      const jobs = await openJobs(options, stores.frontend);
      parts = new Parts(options, stores, registry, clock, made, jobs, feedback);
    } catch (error) {
      // The node's thread and the store would keep the process alive, and the failure out of sight.
      feedback?.close();
      await runtime.close();
      made.closeBundles?.();
      await closed(stores);
      clock.close();
      throw error;
    }
    try {
      await parts.feedback?.start();
      if (options.withDefaults) await registerWhenKept(store, parts.registry, choiceOf(gpus ?? []));
      const queryAddress = await parts.frontend.listen({ host: options.host, port: options.port });
      const managementAddress = await parts.management.listen({
        host: options.managementHost,
        port: options.managementPort,
      });
      const containerAddress = await parts.dialIn?.listen();
      if (cluster !== undefined) {
        const { query, management } = parts.certificates;
        const addresses = {
          query: originOf(queryAddress, query !== undefined),
          management: originOf(managementAddress, management !== undefined),
        };
        await cluster.announce(addresses, () =>
          parts.autoscaler.loads().map(([{ name, version }, load]) => ({ model: name, version, ...load })),
        );
      }
      // What starts first would all start where there is something already.
      await Promise.race([runtime.connected(), options.stopped ?? runtime.connected()]);
      parts.deployer.start();
      parts.autoscaler.start();
      // Those that no application asks may take as long as they like: they serve nobody's queries.
      const linked = parts.linkedModels();
      const waits = [
        parts.deployer.settled((model) => linked.size === 0 || linked.has(model)),
        after(LONGEST_START_MS),
      ];
      await Promise.race(options.stopped === undefined ? waits : [...waits, options.stopped]);
      parts.markStarted();
      return new EmbeddedServer(parts.registry, queryAddress, managementAddress, containerAddress, parts);
    } catch (error) {
      await parts.stop({ noticeMs: 0, graceMs: 0 });
      throw error;
    }
  }

  replicas(): readonly ReplicaStatus[] {
    return this.parts.deployer.statuses();
  }

  /** Whether requests need keys. */
  get requiresKeys(): boolean {
    return this.parts.access.required;
  }

  /** Which interfaces speak TLS. */
  get secure(): { readonly query: boolean; readonly management: boolean } {
    const { query, management } = this.parts.certificates;
    return { query: query !== undefined, management: management !== undefined };
  }

  /** Reads the files of the certificates again; open connections stay. */
  reloadCertificates(): void {
    this.parts.certificates.reload();
  }

  /** Drains, makes everything durable, and stops. */
  stop(times: DrainTimes): Promise<void> {
    return this.parts.stop(times);
  }
}

/** Management answers during the whole drain, and then for so long. */
const MANAGEMENT_GRACE_MS = 1000;

/** A container that says nothing for so long does not keep the others from being served. */
const LONGEST_START_MS = 60_000;

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** What comes with the product is served also where it cannot be registered yet: once the store takes it. */
async function registerWhenKept(store: Store, registry: Registry, cards: readonly string[]): Promise<void> {
  try {
    await registerDefaults(store, registry, cards);
  } catch (error) {
    if (store.fault() === undefined) throw error;
    const unwatch = store.watchFault((fault) => {
      if (fault !== undefined) return;
      unwatch();
      void registerWhenKept(store, registry, cards);
    });
  }
}

function* wantedReplicas(registry: Registry): IterableIterator<readonly [string, string, number]> {
  for (const { name, version } of registry.models().filter(isHosted)) {
    yield [name, version, registry.scale(name, version).replicas];
  }
}

/** The pieces and how they hang together. */
class Parts {
  readonly access: ServerAccess;
  readonly certificates: ServerCertificates;
  private readonly served: ServedVersions;
  readonly frontend: QueryFrontend;
  readonly management: ManagementServer;
  readonly deployer: Deployer;
  readonly autoscaler: Autoscaler;
  private readonly capacity: GpuCapacity;
  private readonly events: EventLog;
  /** Where feedback goes before it is learned. */
  readonly feedback: FeedbackQueue | undefined;
  private readonly engine: PredictionEngine;
  private readonly verdicts: CanaryVerdicts;
  private readonly telemetry: Telemetry;
  private readonly tracing: Tracing | undefined;
  private readonly runtime: ServerRuntime;
  private readonly bundles: MadeRuntime['bundles'];
  private readonly closeBundles: MadeRuntime['closeBundles'];
  private readonly lineQueries: LineQueries;
  readonly dialIn: DialIn | undefined;
  private readonly jobs: ServerJobs;
  private readonly readiness: Readiness;
  private isStarted = false;

  constructor(
    options: EmbeddedOptions,
    private readonly stores: Stores,
    readonly registry: Registry,
    private readonly clock: PacedClock,
    { runtime, cluster, bundles, closeBundles }: MadeRuntime,
    jobs: OpenJobs,
    feedback: FeedbackQueueMaker | undefined,
  ) {
    this.runtime = runtime;
    this.bundles = bundles;
    this.closeBundles = closeBundles;
    const { complain, cacheBytes, dataDirectory, hangWatchdog } = options;
    const { store, shared } = stores;
    const { maxBodyBytes, maxBatchInputs, timeouts, allowedOrigins } = options;
    this.access = new ServerAccess(store, options.access ?? { required: false }, complain);
    this.certificates = new ServerCertificates(options.tls ?? {}, complain);
    const onDefect = ({ message, cause, request }: ServiceError, traceparent?: string) =>
      complain(request === undefined ? message : 'the server failed on a request', {
        request,
        cause,
        ...traceDetail(traceparent),
      });
    this.events = new EventLog({ store, server: stores.frontend, announce: options.announce, complain });
    // Of several frontends one is enough.
    const automatic = new AutomaticEvents(this.events, () => cluster?.isPlacing !== false);
    declareManifestRanges(this.registry, complain);
    this.tracing = options.tracing;
    this.dialIn = options.clipper && new DialIn(options.clipper, registry, clock, complain);
    if (this.dialIn === undefined) tellOfUnreachable(registry, complain);
    this.deployer = new Deployer({
      registry: this.registry,
      starter: this.runtime,
      dialledIn: this.dialIn?.starter,
      addReplica: (channel, isApart) => this.engine.addReplica(channel, isApart),
      onHello: (model, { inputLength }) => {
        const form = inputLength === undefined ? {} : { length: inputLength };
        this.registry.checkDeclared(model, form);
        keepDeclared(this.registry, model, form, complain);
      },
      onReady: ({ name }) => {
        this.served.onReady(name);
        if (this.isStarted) this.frontend.markReady();
      },
      onLost: (status) => {
        complain('replica lost', { ...status });
        automatic.onLost(status);
      },
      onApartLost: (status) => complain('a replica that tries suspects was lost', { ...status }),
      onPrinted: ({ model, version, replica }, { text, stream }) => {
        const details = { model, version, replica, text };
        if (stream === undefined) complain('kernels printed', details);
        else complain('a model printed', { ...details, stream });
      },
    });
    const { deployer } = this;
    this.capacity = new GpuCapacity({
      registry: this.registry,
      rooms: () => this.runtime.rooms(),
      wanted: (model) => this.runtime.wanted(model),
    });
    const { capacity } = this;
    this.served = new ServedVersions(this.registry, (name, version) => deployer.isReady(name, version));
    automatic.watch(this.served);
    this.telemetry = new Telemetry(this.registry, complain, options.tracing);
    this.verdicts = new CanaryVerdicts(this.registry, this.events, complain);
    const engine = new PredictionEngine({
      clock: this.clock,
      registry: this.served,
      store,
      seed: options.seed,
      hashKey: randomBytes(HASH_KEY_BYTES),
      observer: this.telemetry,
      onTrialEnded: (record, trial) => this.verdicts.onEnded(record, trial),
      requestApart: (name, version, isWanted) => this.deployer.setApart(name, version, isWanted),
      contexts: options.contexts,
      ...(cacheBytes === undefined ? {} : { cacheBytes }),
      ...(hangWatchdog === undefined ? {} : { hangWatchdog }),
    });
    this.engine = engine;
    this.feedback = feedback?.make({
      frontend: stores.frontend,
      desk: engine.desk,
      dataDirectory,
      onFate: (application, fate) => this.telemetry.onFeedbackFate(application, fate),
      onFeedback: (request, outcome) => this.telemetry.onFeedback(request, outcome),
      complain,
    });
    this.telemetry.attach(engine, {
      replicas: () => this.deployer.statuses(),
      wanted: () => wantedReplicas(this.registry),
      canaries: () => this.registry.canaries(),
      trials: () => engine.trials(),
      nodes: () => this.runtime.reports(),
    });
    this.autoscaler = new Autoscaler({
      clock: this.clock,
      registry: this.registry,
      queues: () => engine.replicas(),
      setScale: (model, scale) => {
        // Of several frontends one is enough, and several would contradict one another.
        if (cluster?.isPlacing === false) return;
        const { name, version } = model;
        const before = this.registry.scale(name, version);
        const change = () => this.registry.setScale(name, version, scale);
        capacity.admit([{ model, scale }], change).then(
          () => automatic.onScaled(model, before, scale),
          (cause: unknown) =>
            complain('the autoscaler could not change a number of replicas', { name, version, cause }),
        );
      },
      most: (model, most) => capacity.most(model, most),
      others: (model) => cluster?.loadsElsewhere(model) ?? [],
      ...(options.autoscaling === undefined ? {} : { settings: options.autoscaling }),
    });
    const dashboard = new Dashboard({
      registry: this.registry,
      nowMs: () => Date.now(),
      deployed: () => this.deployer.statuses(),
      replicas: () => engine.replicas(),
      cacheStats: () => engine.cacheStats(),
      selectionShares: (application) => engine.selectionShares(application),
      inFlight: () => engine.inFlight(),
      nodes: () => this.runtime.reports(),
      cluster: () => cluster && clusterView(cluster.status(), stores.frontend),
      queue: () => this.feedback?.state(),
      jobs: () => this.jobs.view(),
      traffic: () => this.telemetry.traffic(),
      watchChanges: (listener) => watchMarks(this.events, listener),
      watchSms: (watched) => this.runtime.watchGpus(watched),
    });
    const lineQueries = new LineQueries({
      registry: this.served,
      service: engine,
      queryIdPrefix: `job-${randomBytes(6).toString('base64url')}`,
      onDefect,
    });
    this.lineQueries = lineQueries;
    this.jobs = new ServerJobs(jobs, {
      registry: this.registry,
      engine,
      lineQueries,
      areModelsShared: cluster !== undefined,
      complain,
    });
    this.readiness = new Readiness({
      store,
      registry: this.registry,
      replicas: () => this.deployer.statuses(),
      dialsIn: this.dialIn !== undefined,
      isOnNodesOnly: cluster !== undefined || options.dialled?.isOnly === true,
      links: () => runtime.links(),
      members: cluster && (() => cluster.status().nodes),
      policyFiles: () => engine.policyFiles(),
      nowMs: Date.now,
    });
    this.telemetry.watchPolicyFiles((application, fault) => automatic.onPolicyFault(application, fault));
    const gate = this.access.queryGate;
    const bodyBudget = new BodyBudget(options.maxBufferedBytes);
    this.frontend = new QueryFrontend({
      bodyBudget,
      registry: this.served,
      service: engine,
      metrics: (format) => this.telemetry.text(format),
      observer: this.telemetry,
      feedback: this.feedback,
      queryIdPrefix: stores.frontend,
      onDefect,
      tracing: options.tracing,
      pages: dashboard,
      jobs: {
        routes: jobRoutes({ ledger: jobs.ledger, registry: this.registry, gate, onDefect }),
        operations: JOB_OPERATIONS,
      },
      gate,
      repository: notedRepository(
        new ModelLoader(this.registry, this.deployer, capacity),
        this.registry,
        this.events,
      ),
      isRepositoryControlled: options.isRepositoryControlled,
      missing: () => this.readiness.missing(),
      certificates: this.certificates.query,
      maxConnections: options.maxConnections,
      webSocketLimits: {
        ...(options.maxWebSockets === undefined ? {} : { connections: options.maxWebSockets }),
        ...(options.maxMessageBytes === undefined ? {} : { messageBytes: options.maxMessageBytes }),
      },
      ...(maxBodyBytes === undefined ? {} : { maxBodyBytes }),
      ...(maxBatchInputs === undefined ? {} : { maxBatchInputs }),
      ...(timeouts === undefined ? {} : { timeouts }),
      ...(allowedOrigins === undefined ? {} : { allowedOrigins }),
    });
    this.telemetry.watchStore(store, shared, dataDirectory);
    this.telemetry.watchFeedback(() => this.feedback?.state());
    this.telemetry.watchCluster({ links: () => runtime.links(), members: () => cluster?.status() });
    this.telemetry.watchJobs(() => this.jobs.state());
    const onFault = (fault: StoreFault | undefined) => {
      if (fault === undefined) complain('changes and feedback are kept again', {});
      else complain('changes and feedback are not kept', { cause: fault.cause, reason: fault.message });
    };
    store.watchFault(onFault);
    const present = store.fault();
    if (present !== undefined) onFault(present);
    this.telemetry.watchBatches((record) => this.frontend.onBatch(record));
    this.management = new ManagementServer(
      {
        registry: this.registry,
        replicas: () => this.deployer.statuses(),
        servingVersion: (name) => this.served.currentVersion(name),
        states: (application) => engine.states(application),
        trials: () => engine.trials(),
        events: this.events,
        backup: {
          folders: () => this.registry.applications().flatMap(({ name }) => contextFolders(name)),
          store,
          models: () => this.registry.models(),
          bundles: bundles.store,
          nowMs: Date.now,
          leftOut: async () => {
            const queue = this.feedback?.state();
            const { waiting = 0, active = 0, delayed = 0, failed = 0, spooled = 0 } = queue ?? {};
            const queued = waiting + active + delayed + failed + spooled;
            // While Redis is away nobody can tell, and what the store holds is backed up all the same.
            const found = await jobs.ledger.list().catch(() => undefined);
            return found && { jobs: found.length, queued_feedback: queued };
          },
        },
        feedbackQueue: this.feedback?.administration,
        selectionShares: (application, context) => engine.selectionShares(application, context),
        rooms: () => this.runtime.rooms(),
        capacity,
        nodes: () => this.runtime.reports(),
        queues: () => engine.replicas(),
        recordTimeline: (request) => this.runtime.recordTimeline(request),
        arrivals: new ArrivalRecorder({
          clock,
          watch: (onQuery) => this.telemetry.watchArrivals(onQuery),
          watchFeedback: (onJudged) => this.telemetry.watchJudged(onJudged),
          inputType: (application) => this.registry.application(application)?.inputType,
        }),
        bundles,
        sharedStore: shared,
        dialsIn: this.dialIn !== undefined,
        cluster,
        keepFiles: cluster && ((model) => cluster.keepFiles(model)),
      },
      onDefect,
      {
        keys: this.access.keys,
        gate: this.access.managementGate,
        certificates: this.certificates.management,
        bodyBudget,
        page: managementPage(),
      },
    );
    const { dialIn } = this;
    this.telemetry.watchConnections({
      query: () => this.frontend.connections(),
      management: () => this.management.connections(),
      containers: dialIn && (() => dialIn.connections()),
      denials: () => this.access.denials(),
      bodies: () => bodyBudget.counts(),
      certificateEndMs: (name) => this.certificates[name]?.endMs,
      webSockets: () => this.frontend.webSocketCount(),
      inFlight: () => engine.inFlight(),
    });
  }

  linkedModels(): ReadonlySet<string> {
    const { registry } = this;
    return new Set(this.registry.applications().flatMap(({ name }) => registry.linkedNames(name)));
  }

  /** The starting is over: ready, unless there are models and not one of them is up. */
  markStarted(): void {
    this.isStarted = true;
    this.bundles.start();
    const replicas = this.deployer.statuses();
    if (replicas.length === 0 || replicas.some(({ state }) => state === 'up')) this.frontend.markReady();
  }

  async stop({ noticeMs, graceMs, refusalMs }: DrainTimes): Promise<void> {
    await this.jobs.stop();
    await this.frontend.drain(noticeMs, graceMs, refusalMs);
    this.lineQueries.close();
    await this.management.close(MANAGEMENT_GRACE_MS);
    this.autoscaler.stop();
    // Feedback by input is learned by models.
    await this.feedback?.close();
    this.deployer.stop();
    await new Promise<void>((resolve) => this.engine.flush(resolve));
    this.verdicts.close();
    this.telemetry.close();
    this.readiness.close();
    this.engine.close();
    this.served.close();
    this.events.close();
    this.access.close();
    this.certificates.close();
    this.registry.close();
    await this.runtime.close();
    await this.dialIn?.close();
    await this.bundles.close();
    this.closeBundles?.();
    await closed(this.stores);
    this.clock.close();
    await this.tracing?.close();
  }
}
