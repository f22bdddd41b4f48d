import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Denial, type AccessKey, type AccessKeys, type Gate } from '../access/index.js';
import { writeBackup, type BackupSources } from '../backup/index.js';
import { authorOf } from '../events/index.js';
import { asServiceError, passesSoon, type ServiceError } from '../errors/index.js';
import {
  BodyBudget,
  JsonServer,
  openApiDocument,
  readJsonBody,
  refuseBody,
  sendError,
  sendJson,
  sendText,
  type Certificates,
  type ConnectionCounts,
  type ListenOptions,
  type OpenApiOperation,
} from '../http/index.js';
import { adminVerbs } from './adminVerbs.js';
import { alertVerbs } from './alertVerbs.js';
import { arrivalVerbs, type ArrivalSources } from './arrivalVerbs.js';
import type { AdminSources } from './adminSources.js';
import { BUNDLE, BUNDLE_PATH, bringsBundle, takeBundle } from './bundleUpload.js';
import { canaryVerbs, type CanarySources } from './canaryVerbs.js';
import { clusterVerbs, type ClusterSources } from './clusterVerbs.js';
import { eventVerbs, type EventSources } from './eventVerbs.js';
import { feedbackVerbs, type FeedbackSources } from './feedbackVerbs.js';
import { gpuVerbs, type GpuSources } from './gpuVerbs.js';
import { keyVerbs } from './keyVerbs.js';
import { JsonText, StreamedText, type AdminVerb } from './verb.js';

const MAX_BODY_BYTES = 4 * 1024 * 1024;

const MAX_CONNECTIONS = 256;

/** Answered to anybody: probes have no key, and the document says how to show one. */
const OPEN_PATHS: ReadonlySet<string> = new Set(['/admin/ping', '/healthz', '/openapi.json']);

export interface ManagementAccess {
  /** Are added, listed and removed here. */
  readonly keys?: AccessKeys | undefined;
  /** Who may ask; undefined: whoever reaches the interface. */
  readonly gate?: Gate | undefined;
  readonly certificates?: Certificates | undefined;
  /** The memory of bodies under way; shared with other interfaces. */
  readonly bodyBudget?: BodyBudget | undefined;
  /** A page at `/`, with its files below `/dashboard/`. */
  readonly page?: RequestHandler | undefined;
}

/** The management interface on HTTP. Without a gate it trusts whoever reaches it: bind it to loopback. */
export class ManagementServer {
  private readonly server: JsonServer;
  private readonly budget: BodyBudget;
  /** Of requests under way, where keys are asked for. */
  private readonly shownKeys = new WeakMap<IncomingMessage, AccessKey>();

  constructor(
    private readonly sources: AdminSources &
      GpuSources &
      ClusterSources &
      CanarySources &
      FeedbackSources &
      EventSources &
      ArrivalSources &
      BackedUp,
    private readonly onDefect: (error: ServiceError) => void = () => undefined,
    { keys, gate, certificates, bodyBudget, page }: ManagementAccess = {},
  ) {
    this.budget = bodyBudget ?? new BodyBudget();
    const verbs = [
      ...adminVerbs(sources),
      ...canaryVerbs(sources),
      ...feedbackVerbs(sources),
      ...gpuVerbs(sources),
      ...arrivalVerbs(sources),
      ...clusterVerbs(sources),
      ...eventVerbs(sources),
      ...alertVerbs(sources),
      ...(keys === undefined ? [] : keyVerbs(keys)),
    ];
    const app = this.routes(verbs, gate !== undefined, sources.backup, page);
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      const [path] = (request.url ?? '/').split('?', 1);
      // A person at a browser is asked by its own dialogue, and it shows the key with every further request.
      const challenge = path === '/' || path.startsWith('/dashboard/') ? 'basic' : 'bearer';
      const isOpen = gate === undefined || OPEN_PATHS.has(path);
      const key = isOpen ? undefined : gate.admit(request, 'admin', challenge);
      if (key instanceof Denial) {
        sendError(response, key.code, key.message, key.field, key.headers);
        return;
      }
      if (key !== undefined) this.shownKeys.set(request, key);
      app(request, response);
    };
    this.server = new JsonServer(listener, {
      certificates,
      maxConnections: MAX_CONNECTIONS,
      isProbe: ({ url = '' }) => OPEN_PATHS.has(url),
      isLong: bringsBundle,
    });
  }

  connections(): ConnectionCounts {
    return this.server.connections();
  }

  listen(options: ListenOptions): Promise<AddressInfo> {
    return this.server.listen(options);
  }

  close(graceMs: number): Promise<void> {
    return this.server.close(graceMs);
  }

  private routes(
    verbs: readonly AdminVerb[],
    requiresKeys: boolean,
    backup: BackupSources,
    page?: RequestHandler,
  ): Express {
    const app = express();
    app.disable('x-powered-by');
    app.disable('etag');
    const document = JSON.stringify(
      openApiDocument(
        'Windjammer management',
        'Applications, models, links and keys',
        [...verbs.map(operation), BUNDLE, BACKUP],
        {},
        requiresKeys,
      ),
    );
    app.get('/admin/ping', (_request, response) => sendText(response, 200, 'text/plain', 'PONG'));
    app.get('/healthz', (_request, response) => sendJson(response, 200, '{"status":"ok"}'));
    app.get('/openapi.json', (_request, response) => sendJson(response, 200, document));
    app.all(['/admin/ping', '/healthz', '/openapi.json'], (request, response) =>
      refuseMethod(request, response, 'GET, HEAD'),
    );
    app.get(
      '/admin/backup',
      (_request, response) => void this.stream(response, new StreamedText(BACKUP_TYPE, writeBackup(backup))),
    );
    app.all('/admin/backup', (request, response) => refuseMethod(request, response, 'GET'));
    app.post(BUNDLE_PATH, (request, response) => void this.takeBundle(request, response));
    app.all(BUNDLE_PATH, (request, response) => refuseMethod(request, response, 'POST'));
    for (const verb of verbs) {
      app.post(`/admin/${verb.name}`, (request, response) => this.serve(verb, request, response));
      app.all(`/admin/${verb.name}`, (request, response) => refuseMethod(request, response, 'POST'));
    }
    if (page !== undefined) app.use(page);
    app.use((_request, response) =>
      sendError(response, 'unknown_route', 'no route has this path: GET /openapi.json lists all'),
    );
    // Express tells an error handler by its four parameters.
    app.use((thrown: unknown, _request: Request, response: Response, _next: express.NextFunction) =>
      this.fail(response, thrown),
    );
    return app;
  }

  private serve(verb: AdminVerb, request: Request, response: Response): void {
    readJsonBody(
      request,
      { bytes: MAX_BODY_BYTES, budget: this.budget },
      {
        onBodyError: (error) => this.fail(response, error),
        onBody: (body) => {
          const gone = new AbortController();
          response.once('close', () => gone.abort());
          const author = authorOf(this.shownKeys.get(request));
          const run = async (): Promise<unknown> => {
            if (verb.needsCurrent) this.sources.registry.requireCurrent();
            return verb.run(body, gone.signal, (happening) => this.sources.events.note(author, happening));
          };
          run().then(
            (result) => {
              if (typeof result === 'string') sendText(response, 200, 'text/plain; charset=utf-8', result);
              else if (result instanceof JsonText) sendJson(response, 200, result.text);
              else if (result instanceof StreamedText) void this.stream(response, result);
              else sendJson(response, 200, JSON.stringify(result));
            },
            (thrown: unknown) => this.fail(response, thrown),
          );
        },
      },
    );
  }

  /**
   * The first piece is there before anything is answered: what fails behind it can only break the answer off. A reader that is slow,
   * or leaves, keeps whoever makes the pieces from making more.
   */
  private async stream(response: Response, { contentType, pieces }: StreamedText): Promise<void> {
    try {
      const first = await pieces.next();
      response.writeHead(200, { 'content-type': contentType });
      response.write(first.value ?? '');
      await pipeline(Readable.from(pieces, { objectMode: true }), response);
    } catch (thrown) {
      if (!response.headersSent) this.fail(response, thrown);
      // Whoever asked may have gone; of anything else somebody must hear.
      else if (!isGone(thrown)) this.onDefect(asServiceError(thrown));
    } finally {
      await pieces.return();
    }
  }

  private async takeBundle(request: Request, response: Response): Promise<void> {
    try {
      const answer = await takeBundle(request, request.query, this.sources.bundles);
      sendJson(response, 200, JSON.stringify(answer));
    } catch (thrown) {
      // Whoever sent has gone.
      if (request.socket.destroyed) return;
      refuseBody(
        request,
        { onBodyError: (error) => this.fail(response, error, !request.complete) },
        asServiceError(thrown),
      );
    }
  }

  /** @param isCut nothing more is read from the connection */
  private fail(response: Response, thrown: unknown, isCut = false): void {
    const error = asServiceError(thrown);
    if (error.code === 'internal') this.onDefect(error);
    const headers = passesSoon(error.code) ? ['retry-after', '1'] : [];
    if (isCut) headers.push('connection', 'close');
    sendError(response, error.code, error.message, error.field, headers);
  }
}

const BACKUP_TYPE = 'application/x-ndjson';

const BACKUP: OpenApiOperation = {
  method: 'get',
  path: '/admin/backup',
  summary: 'All that the server keeps, as lines of JSON; the last has a SHA-256 of those before it',
  scope: 'admin',
  answer: { contentType: BACKUP_TYPE },
};

interface BackedUp {
  readonly backup: BackupSources;
}

function isGone(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_STREAM_PREMATURE_CLOSE';
}

function refuseMethod(request: Request, response: Response, allowed: string): void {
  const message = `${request.method} is not allowed here, use ${allowed}`;
  sendError(response, 'method_not_allowed', message, undefined, ['allow', allowed]);
}

function operation(verb: AdminVerb): OpenApiOperation {
  return {
    method: 'post',
    path: `/admin/${verb.name}`,
    summary: verb.summary,
    scope: 'admin',
    request: verb.request,
    answer: verb.answer ?? { contentType: 'text/plain' },
    errors: ['unknown_field', ...verb.errors],
  };
}
