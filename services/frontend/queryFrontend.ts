import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express, RequestHandler } from 'express';
import { Denial, type Gate } from '../access/index.js';
import type { ServiceError } from '../errors/index.js';
import {
  BodyBudget,
  DEFAULT_TIMEOUTS,
  JsonServer,
  sendError,
  type BodyLimits,
  type Certificates,
  type ConnectionCounts,
  type ConnectionTimeouts,
  type ListenOptions,
} from '../http/index.js';
import type { BatchRecord, FeedbackService, PredictionService } from '../prediction/index.js';
import type { RegistryView } from '../registry/index.js';
import { coldRoutes, type ColdRouteSources, type JobPart } from './coldRoutes.js';
import { CrossOrigin } from './crossOrigin.js';
import { PredictExchange, UpdateExchange, type ExchangeContext } from './exchanges.js';
import { InferenceProtocol, type ModelRepository } from './inference/index.js';
import { isInferencePath } from './inference/inferencePaths.js';
import { coldDenial, isProbe } from './keyedRoutes.js';
import type { Missing } from './missing.js';
import { UNOBSERVED, type FrontendObserver } from './observer.js';
import type { RequestTrace, RequestTracing } from './requestTracing.js';
import { RouteTable } from './routeTable.js';
import { MAX_CLIENT_BATCH } from './schemas.js';
import {
  DEFAULT_MESSAGE_BYTES,
  DEFAULT_WEB_SOCKET_LIMITS,
  type WebSocketLimits,
} from './websocket/limits.js';
import { WebSocketFrontend } from './websocket/webSocketFrontend.js';

export interface QueryFrontendOptions {
  readonly registry: RegistryView;
  readonly service: PredictionService;
  readonly metrics: ColdRouteSources['metrics'];
  /** Starts every query id: must differ between processes whose ids could meet. Of [A-Za-z0-9_-] only. */
  readonly queryIdPrefix: string;
  readonly observer?: FrontendObserver;
  readonly maxBodyBytes?: number;
  /** The memory of bodies under way; shared with other interfaces. */
  readonly bodyBudget?: BodyBudget | undefined;
  /** Inputs that a client's batch may have. */
  readonly maxBatchInputs?: number;
  readonly timeouts?: ConnectionTimeouts;
  /** Who may ask; undefined: anybody. */
  readonly gate?: Gate | undefined;
  readonly certificates?: Certificates | undefined;
  readonly maxConnections?: number | undefined;
  /** Of WebSockets. */
  readonly webSocketLimits?: Partial<WebSocketLimits>;
  /** Origins of web pages that may ask and open a WebSocket, beside the server's own; `*`: any. */
  readonly allowedOrigins?: readonly string[];
  /** Which models run; undefined: that they are up or not is all that is known. */
  readonly repository?: ModelRepository | undefined;
  /** Clients may load and unload models by the Open Inference Protocol. */
  readonly isRepositoryControlled?: boolean | undefined;
  /** Where feedback goes; to the service unless given. */
  readonly feedback?: FeedbackService | undefined;
  /** What the server lacks; nothing unless given. */
  readonly missing?: () => readonly Missing[];
  readonly tracing?: RequestTracing | undefined;
  readonly onDefect?: (error: ServiceError, traceparent?: string) => void;
  readonly pages?: FrontendPages;
  readonly jobs?: JobPart;
}

/** Pages that are served beside the interface. */
export interface FrontendPages {
  readonly router: RequestHandler;
  /** Ends answers that would go on for ever. */
  close(): void;
}

/** Room for a thousand inputs of 784 pixels. */
export const DEFAULT_MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Of a connection, queries that are answered together; anything else gains nothing from it. */
const PIPELINED_QUERIES = 64;

/** What has a larger body is answered by itself. */
const PIPELINED_BYTES = 16 * 1024;

type LifeStage = 'starting' | 'ready' | 'draining' | 'closed';

/**
 * The query interface on HTTP. `POST /:application/predict` and `/update` are matched here, before Express: with its
 * body parser Express takes five times what the whole exchange takes without it.
 */
export class QueryFrontend {
  private readonly server: JsonServer;
  private readonly routes: RouteTable;
  private readonly cold: Express;
  private readonly context: ExchangeContext;
  private readonly crossOrigin: CrossOrigin | undefined;
  private readonly inference: InferenceProtocol;
  private readonly bodyLimits: BodyLimits;
  private readonly observer: FrontendObserver;
  private readonly service: PredictionService;
  private readonly pages: FrontendPages | undefined;
  private readonly webSockets: WebSocketFrontend;
  private readonly gate: Gate | undefined;
  private stage: LifeStage = 'starting';

  constructor(options: QueryFrontendOptions) {
    this.service = options.service;
    this.pages = options.pages;
    this.gate = options.gate;
    this.routes = new RouteTable(options.registry);
    const maxBodyBytes = options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
    this.bodyLimits = { bytes: maxBodyBytes, budget: options.bodyBudget ?? new BodyBudget() };
    this.observer = options.observer ?? UNOBSERVED;
    const onDefect = options.onDefect ?? (() => undefined);
    const allowedOrigins = options.allowedOrigins ?? [];
    this.crossOrigin = allowedOrigins.length === 0 ? undefined : new CrossOrigin(allowedOrigins);
    let queries = 0;
    this.context = {
      service: options.service,
      feedback: options.feedback ?? options.service,
      observer: this.observer,
      maxBatchInputs: options.maxBatchInputs ?? MAX_CLIENT_BATCH,
      nextQueryId: () => `${options.queryIdPrefix}-${(queries++).toString(36)}`,
      tracing: options.tracing,
      onDefect,
    };
    this.inference = new InferenceProtocol({
      ...this.context,
      registry: options.registry,
      gate: options.gate,
      repository: options.repository,
      isRepositoryControlled: options.isRepositoryControlled,
      allowedOrigins: options.allowedOrigins,
      bodyLimits: this.bodyLimits,
      notReady: () => this.notReady(),
      isClosed: () => this.stage === 'closed',
      nowMs: Date.now,
    });
    this.cold = coldRoutes({
      metrics: options.metrics,
      notReady: () => this.notReady(),
      missing: options.missing ?? (() => []),
      maxBatchInputs: this.context.maxBatchInputs,
      requiresKeys: options.gate !== undefined,
      onDefect,
      ...(options.jobs === undefined ? {} : { jobs: options.jobs }),
      ...(options.pages === undefined ? {} : { pages: options.pages.router }),
    });
    this.webSockets = new WebSocketFrontend({
      exchange: this.context,
      routes: this.routes,
      gate: options.gate,
      budget: this.bodyLimits.budget,
      limits: {
        messageBytes: Math.min(maxBodyBytes, DEFAULT_MESSAGE_BYTES),
        ...DEFAULT_WEB_SOCKET_LIMITS,
        ...options.webSocketLimits,
      },
      allowedOrigins,
    });
    this.server = new JsonServer((request, response) => this.onRequest(request, response), {
      timeouts: options.timeouts ?? DEFAULT_TIMEOUTS,
      upgrades: this.webSockets,
      certificates: options.certificates,
      maxConnections: options.maxConnections,
      isProbe,
      concurrency: (request) => (isSmallPost(request) ? PIPELINED_QUERIES : 1),
      unreadBytes: this.bodyLimits.budget.counts().limitBytes,
    });
  }

  /** Listens; `/readyz` answers 503 until `markReady`. */
  listen(options: ListenOptions): Promise<AddressInfo> {
    return this.server.listen(options);
  }

  /** Must hear of every batch: the Open Inference Protocol shows them as statistics. */
  onBatch(record: BatchRecord): void {
    this.inference.onBatch(record);
  }

  connections(): ConnectionCounts {
    return this.server.connections();
  }

  /** WebSockets that are open. */
  webSocketCount(): number {
    return this.webSockets.size;
  }

  /** Answers that clients of WebSockets have not taken yet. */
  webSocketBufferedBytes(): number {
    return this.webSockets.bufferedBytes();
  }

  markReady(): void {
    if (this.stage === 'starting') this.stage = 'ready';
  }

  /**
   * Readiness goes first; for `noticeMs` queries are still taken, so that load balancers see it. Then new ones are refused,
   * also on new connections, until those in flight are answered and `refusalMs` are over; and every connection is
   * closed, at the latest after `graceMs`.
   */
  async drain(noticeMs: number, graceMs: number, refusalMs = 0): Promise<void> {
    if (this.stage === 'draining' || this.stage === 'closed') return;
    this.stage = 'draining';
    this.server.beginClosing();
    if (noticeMs > 0) await after(noticeMs);
    this.stage = 'closed';
    this.pages?.close();
    const answered = new Promise<void>((resolve) => this.service.drain(resolve));
    this.webSockets.drain();
    const endMs = performance.now() + graceMs;
    const limit = new AbortController();
    await Promise.race([
      Promise.all([answered, after(refusalMs, limit.signal)]),
      after(graceMs, limit.signal),
    ]);
    limit.abort();
    await this.server.close(Math.max(0, endMs - performance.now()));
    // Connections that were cut may have left queries behind; the engine answers them by their deadline.
    await answered;
    this.routes.close();
    this.inference.close();
  }

  private notReady(): string | undefined {
    if (this.stage === 'ready') return undefined;
    return this.stage === 'starting' ? 'the server is starting' : 'the server is draining';
  }

  private onRequest(request: IncomingMessage, response: ServerResponse): void {
    if (this.crossOrigin?.handle(request, response) === true) return;
    const url = request.url ?? '/';
    if (isInferencePath(url)) {
      this.inference.handle(request, response);
      return;
    }
    const query = url.indexOf('?');
    let end = query < 0 ? url.length : query;
    // One trailing slash is allowed.
    if (end > 1 && url.charCodeAt(end - 1) === SLASH) end -= 1;
    const isPredict = url.endsWith('/predict', end);
    if (!isPredict && !url.endsWith('/update', end)) {
      this.onColdRoute(request, response);
      return;
    }
    const nameEnd = end - (isPredict ? '/predict'.length : '/update'.length);
    // The name is what stands between the first slash and the verb's; another slash in it makes another route.
    if (url.charCodeAt(0) !== SLASH || (nameEnd > 0 && url.lastIndexOf('/', nameEnd - 1) > 0)) {
      this.onColdRoute(request, response);
      return;
    }
    this.onHotRoute(request, response, url.slice(1, nameEnd), isPredict);
  }

  private onColdRoute(request: IncomingMessage, response: ServerResponse): void {
    const denial = this.gate === undefined ? undefined : coldDenial(this.gate, request, response);
    if (denial === undefined) this.cold(request, response);
    else this.refuse(response, undefined, denial.code, denial.message, denial.headers);
  }

  private onHotRoute(
    request: IncomingMessage,
    response: ServerResponse,
    encodedName: string,
    isPredict: boolean,
  ): void {
    const pattern = isPredict ? '/{application}/predict' : '/{application}/update';
    const trace = this.context.tracing?.onHttpRequest(request, response, pattern);
    if (request.method !== 'POST') {
      const message = `${request.method} is not allowed here, use POST`;
      this.refuse(response, trace, 'method_not_allowed', message, ['allow', 'POST']);
      return;
    }
    if (this.stage === 'closed') {
      this.refuse(response, trace, 'shutting_down', 'the server is draining', ['connection', 'close']);
      return;
    }
    const name = decodeName(encodedName);
    if (name === undefined) {
      this.refuse(response, trace, 'malformed_url', 'the path is not percent-encoded UTF-8');
      return;
    }
    const key = this.gate?.keyFor(request, isPredict ? 'predict' : 'feedback', 'application', name);
    if (key instanceof Denial) {
      this.refuse(response, trace, key.code, key.message, key.headers);
      return;
    }
    const route = this.routes.find(name);
    if (route === undefined) {
      const shown = name.length <= 64 ? name : `${name.slice(0, 61)}...`;
      this.refuse(
        response,
        trace,
        'unknown_application',
        `no application has the name ${JSON.stringify(shown)}`,
      );
      return;
    }
    const exchange = isPredict
      ? new PredictExchange(this.context, route, request, response, trace, key ?? request.socket)
      : new UpdateExchange(this.context, route, request, response, trace);
    exchange.receive(this.bodyLimits);
  }

  private refuse(
    response: ServerResponse,
    trace: RequestTrace | undefined,
    code: Parameters<typeof sendError>[1],
    message: string,
    headers?: readonly string[],
  ): void {
    trace?.onRefused(code);
    this.observer.onRefused(undefined, code);
    sendError(response, code, message, undefined, headers);
  }
}

const SLASH = 47;

/** A large batch, and its answer, of which one of a connection is enough at a time, is no such thing. */
function isSmallPost({ method, headers }: IncomingMessage): boolean {
  return method === 'POST' && Number(headers['content-length'] ?? Infinity) <= PIPELINED_BYTES;
}

/** Resolves after so long, or when it is no longer wanted. */
function after(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (ms <= 0) {
      resolve();
      return;
    }
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function decodeName(encoded: string): string | undefined {
  if (!encoded.includes('%')) return encoded;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
