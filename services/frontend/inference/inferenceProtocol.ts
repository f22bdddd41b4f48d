import type { IncomingMessage, ServerResponse } from 'node:http';
import { AccessKey, Denial, type Gate } from '../../access/index.js';
import { asServiceError, ServiceError, type ErrorCode } from '../../errors/index.js';
import { sendJson, type BodyLimits } from '../../http/index.js';
import type { BatchRecord } from '../../prediction/index.js';
import type { ModelRecord, RegistryView } from '../../registry/index.js';
import { sendInferenceError } from './inferenceErrors.js';
import { inferenceKey } from './inferenceAccess.js';
import { inferenceRoute, STATISTICS, type InferenceRoute } from './inferencePaths.js';
import { InferenceStatistics } from './inferenceStatistics.js';
import { InferExchange, type InferenceContext } from './inferExchange.js';
import { Servables, type Servable } from './servables.js';
import { inputTensors, modelConfiguration, outputTensors, platformOf } from './modelDescription.js';
import { readInferenceBody } from './inferenceBody.js';
import { RepositoryRoutes, type ModelRepository } from './repositoryRoutes.js';

export interface InferenceProtocolOptions extends Omit<InferenceContext, 'statistics'> {
  readonly registry: RegistryView;
  /** Who may ask; undefined: anybody. */
  readonly gate?: Gate | undefined;
  /** undefined: replicas that are up are all that is known. */
  readonly repository?: ModelRepository | undefined;
  /** Clients may load and unload models. */
  readonly isRepositoryControlled?: boolean | undefined;
  /** Origins of web pages that may do so, beside the server's own; `*`: any. */
  readonly allowedOrigins?: readonly string[] | undefined;
  readonly bodyLimits: BodyLimits;
  /** Why the server takes no queries now; undefined: it does. */
  notReady(): string | undefined;
  /** Nothing new is taken any more. */
  isClosed(): boolean;
  readonly nowMs: () => number;
}

/** What server metadata names: the extensions of the protocol that are there. */
const EXTENSIONS = [
  'binary_tensor_data',
  'classification',
  'model_configuration',
  'model_repository',
  'schedule_policy',
  'statistics',
] as const;

/** The Open Inference Protocol, version 2, over REST: everything below `/v2`. Every error is `{"error": "<message>"}`. */
export class InferenceProtocol {
  private readonly servables: Servables;
  private readonly context: InferenceContext;
  private readonly statistics: InferenceStatistics;
  private readonly repositoryRoutes: RepositoryRoutes;
  private readonly unwatch: () => void;

  constructor(private readonly options: InferenceProtocolOptions) {
    const { registry } = options;
    this.servables = new Servables(registry);
    this.statistics = new InferenceStatistics(registry, options.nowMs);
    this.context = {
      service: options.service,
      observer: options.observer,
      statistics: this.statistics,
      maxBatchInputs: options.maxBatchInputs,
      nextQueryId: () => options.nextQueryId(),
      tracing: options.tracing,
      onDefect: (error, traceparent) => options.onDefect(error, traceparent),
    };
    this.repositoryRoutes = new RepositoryRoutes({
      repository: options.repository,
      isControlled: options.isRepositoryControlled ?? false,
      allowedOrigins: options.allowedOrigins ?? [],
      bodyLimits: options.bodyLimits,
      models: () => registry.models(),
      isReady: (name, version) => options.service.ready(name, version),
      refuse: (response, error) => this.refuseError(response, error),
    });
    this.unwatch = registry.watch(({ kind }) => {
      if (kind === 'model') this.statistics.prune();
    });
  }

  /** Counts a batch for the statistics extension. */
  onBatch(record: BatchRecord): void {
    this.statistics.onBatch(record);
  }

  close(): void {
    this.unwatch();
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const route = this.route(request.url ?? '/');
    if (route === 'malformed')
      this.refuse(response, 'malformed_url', 'the path is not percent-encoded UTF-8');
    else if (route === undefined)
      this.refuse(response, 'unknown_route', 'no route of the protocol has this path');
    else if (this.allows(route, request, response)) {
      const key = this.keyFor(route, request);
      if (key instanceof Denial) {
        this.refuse(response, key.code, key.message, key.headers);
        return;
      }
      try {
        this.answer(route, request, response, key ?? request.socket);
      } catch (thrown) {
        this.refuseError(response, asServiceError(thrown));
      }
    }
  }

  /** `stats` is a name that a model may have: its metadata goes before the statistics of all. */
  private route(url: string): InferenceRoute | undefined | 'malformed' {
    const route = inferenceRoute(url);
    if (route === undefined || route === 'malformed' || route.kind !== 'allStatistics') return route;
    const isNamed = this.servables.find(STATISTICS, undefined) !== undefined;
    return isNamed ? { kind: 'model', model: STATISTICS, version: undefined } : route;
  }

  private keyFor(route: InferenceRoute, request: IncomingMessage): AccessKey | Denial | undefined {
    const { gate } = this.options;
    if (gate === undefined) return undefined;
    return inferenceKey(gate, route, request, (name, version) => this.servables.find(name, version));
  }

  private allows(
    { kind }: InferenceRoute,
    { method = '' }: IncomingMessage,
    response: ServerResponse,
  ): boolean {
    const posts = kind === 'infer' || kind === 'repositoryIndex' || kind === 'load' || kind === 'unload';
    if (posts ? method === 'POST' : method === 'GET' || method === 'HEAD') return true;
    const message = `${method} is not allowed here, use ${posts ? 'POST' : 'GET'}`;
    this.refuse(response, 'method_not_allowed', message, ['allow', posts ? 'POST' : 'GET, HEAD']);
    return false;
  }

  /** @param source whoever asks, as an object that lasts: their key, or their connection. */
  private answer(
    route: InferenceRoute,
    request: IncomingMessage,
    response: ServerResponse,
    source: object,
  ): void {
    switch (route.kind) {
      case 'server':
        send(response, { name: 'windjammer', version: '0.1.0', extensions: EXTENSIONS });
        return;
      case 'live':
        send(response, { live: true });
        return;
      case 'serverReady': {
        const reason = this.options.notReady();
        if (reason === undefined) send(response, { ready: true });
        else this.refuse(response, 'not_ready', reason);
        return;
      }
      case 'allStatistics':
        send(response, this.statistics.shown(this.options.registry.models()));
        return;
      case 'repositoryIndex':
        this.repositoryRoutes.index(request, response);
        return;
      case 'load':
      case 'unload':
        this.repositoryRoutes.change(
          route.kind,
          route.model,
          request,
          response,
          source instanceof AccessKey ? source : undefined,
        );
        return;
      case 'infer':
        this.infer(this.servable(route.model, route.version), request, response, source);
        return;
      case 'model':
        send(response, this.metadata(this.servable(route.model, route.version)));
        return;
      case 'config': {
        const servable = this.servable(route.model, route.version);
        send(response, modelConfiguration(servable, this.context.maxBatchInputs));
        return;
      }
      case 'modelReady':
        this.answerReady(this.servable(route.model, route.version), response);
        return;
      case 'statistics':
        send(response, this.statistics.shown(this.counted(route.model, route.version)));
    }
  }

  private infer(
    servable: Servable,
    request: IncomingMessage,
    response: ServerResponse,
    source: object,
  ): void {
    if (this.options.isClosed()) {
      this.refuse(response, 'shutting_down', 'the server is draining', ['connection', 'close']);
      return;
    }
    if (servable.kind === 'model' && !this.isLoaded(servable.record)) {
      const { name, version } = servable.record;
      this.statistics.of(name, version)?.onRequest(false, 0);
      request.resume();
      this.refuse(response, 'default_unavailable', `'${name}' is unloaded`);
      return;
    }
    const trace = this.options.tracing?.onHttpRequest(request, response, inferPattern(request));
    const exchange = new InferExchange(this.context, servable, request, response, trace, source);
    readInferenceBody(request, this.options.bodyLimits, exchange);
  }

  /** @throws ServiceError `unknown_model` */
  private servable(name: string, version: string | undefined): Servable {
    const found = this.servables.find(name, version);
    if (found !== undefined) return found;
    const shown = JSON.stringify(name.length <= 64 ? name : `${name.slice(0, 61)}...`);
    const versions = this.servables.versions(name);
    const message =
      versions.length === 0
        ? `no model or application has the name ${shown}`
        : `the model ${shown} has the versions ${versions.join(', ')} only`;
    throw new ServiceError('unknown_model', message);
  }

  private counted(name: string, version: string | undefined): readonly ModelRecord[] {
    const servable = this.servable(name, version);
    if (servable.kind === 'model' && version !== undefined) return [servable.record];
    const { registry } = this.options;
    if (servable.kind === 'model') return registry.models().filter((model) => model.name === name);
    return registry.linkedModels(servable.record.name);
  }

  private metadata(servable: Servable): unknown {
    const { name } = servable;
    return {
      name,
      ...(servable.kind === 'model' ? { versions: this.servables.versions(name) } : {}),
      platform: platformOf(servable),
      inputs: inputTensors(servable),
      outputs: outputTensors(servable),
    };
  }

  private answerReady(servable: Servable, response: ServerResponse): void {
    const { name } = servable;
    if (this.options.notReady() === undefined && this.isReady(servable))
      send(response, { name, ready: true });
    else this.refuse(response, 'not_ready', `'${name}' has no replica that is up`);
  }

  /** A model by its replicas; an application as soon as one of its models is. */
  private isReady({ kind, record }: Servable): boolean {
    const { service } = this.context;
    if (kind === 'model') return service.ready(record.name, record.version);
    const linked = this.options.registry.linkedModels(record.name);
    return linked.some((model) => service.ready(model.name, model.version));
  }

  /** The cache knows answers of a model that is unloaded: it gives none all the same. */
  private isLoaded({ name, version }: ModelRecord): boolean {
    return this.options.repository?.isLoaded(name, version) ?? true;
  }

  private refuseError(response: ServerResponse, error: ServiceError): void {
    if (error.code === 'internal') this.context.onDefect(error);
    this.refuse(response, error.code, error.message);
  }

  private refuse(
    response: ServerResponse,
    code: ErrorCode,
    message: string,
    headers?: readonly string[],
  ): void {
    this.context.observer.onRefused(undefined, code);
    sendInferenceError(response, code, message, headers);
  }
}

function send(response: ServerResponse, value: unknown): void {
  sendJson(response, 200, JSON.stringify(value));
}

function inferPattern({ url = '' }: IncomingMessage): string {
  const hasVersion = url.includes('/versions/');
  return hasVersion ? '/v2/models/{model}/versions/{version}/infer' : '/v2/models/{model}/infer';
}
