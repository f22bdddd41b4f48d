import express, {
  type Express,
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { asServiceError, type ServiceError } from '../errors/index.js';
import { openApiDocument, sendBytes, sendError, sendJson, type OpenApiOperation } from '../http/index.js';
import type { MetricsFormat } from '../metrics/index.js';
import { missingText, missingUnnamed, type Missing } from './missing.js';
import { queryOperations } from './operations.js';
import { clientMessageSchema, serverMessageSchema } from './websocket/messageSchemas.js';

const OPEN_METRICS = 'application/openmetrics-text;version=1.0.0';

export interface ColdRouteSources {
  metrics(format: MetricsFormat): Promise<{ readonly contentType: string; readonly bytes: Uint8Array }>;
  /** Why the server takes no queries now; undefined: it does. */
  notReady(): string | undefined;
  /** What the server lacks. */
  missing(): readonly Missing[];
  onDefect(error: ServiceError): void;
  /** Inputs that a client's batch may have. */
  readonly maxBatchInputs: number;
  /** Whether requests need keys. */
  readonly requiresKeys: boolean;
  /** Batch jobs: `/jobs`, what it does with keys, and its part of the document. */
  readonly jobs?: JobPart;
  /** Routes of others, asked before a path counts as unknown. */
  readonly pages?: RequestHandler;
}

export interface JobPart {
  readonly routes: RequestHandler;
  readonly operations: readonly OpenApiOperation[];
}

/** Everything but predict and update: rare requests, which may take Express's time. */
export function coldRoutes(sources: ColdRouteSources): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  const document = JSON.stringify(
    openApiDocument(
      'Windjammer queries',
      'Predictions and feedback; errors are listed in docs/reference/errors.md',
      [...queryOperations(sources.maxBatchInputs), ...(sources.jobs?.operations ?? [])],
      {
        WebSocketRequest: { schema: clientMessageSchema, io: 'input' },
        WebSocketAnswer: { schema: serverMessageSchema, io: 'output' },
      },
      sources.requiresKeys,
    ),
  );
  app.get('/metrics', async (request, response) => {
    // Whoever accepts neither gets the first.
    const accepted = request.accepts('text/plain;version=0.0.4', OPEN_METRICS);
    const { contentType, bytes } = await sources.metrics(
      accepted === OPEN_METRICS ? 'openMetrics' : 'prometheus',
    );
    response.vary('accept');
    sendBytes(response, 200, contentType, bytes);
  });
  app.get('/healthz', (_request, response) => sendJson(response, 200, '{"status":"ok"}'));
  app.get('/readyz', (_request, response) => {
    const reason = sources.notReady();
    const missing = sources.missing();
    if (reason === undefined) sendJson(response, 200, readyJson(missing, !sources.requiresKeys));
    else if (missing.length === 0 || sources.requiresKeys) sendError(response, 'not_ready', reason);
    else sendError(response, 'not_ready', `${reason}: ${missingText(missing)}`);
  });
  app.get('/openapi.json', (_request, response) => sendJson(response, 200, document));
  app.all('/ws', (_request, response) => {
    const message = '/ws speaks WebSocket only: docs/reference/websocket.md';
    sendError(response, 'upgrade_required', message, undefined, ['upgrade', 'websocket']);
  });
  app.all(['/metrics', '/healthz', '/readyz', '/openapi.json'], (request, response) => {
    sendError(response, 'method_not_allowed', `${request.method} is not allowed here, use GET`, undefined, [
      'allow',
      'GET, HEAD',
    ]);
  });
  if (sources.jobs !== undefined) app.use('/jobs', sources.jobs.routes);
  if (sources.pages !== undefined) app.use(sources.pages);
  app.use((_request, response) =>
    sendError(response, 'unknown_route', 'no route has this path: GET /openapi.json lists all'),
  );
  // Express tells an error handler by its four parameters.
  app.use((thrown: unknown, _request: Request, response: Response, _next: NextFunction) => {
    const error = asServiceError(thrown);
    if (isMalformedUrl(thrown)) sendError(response, 'malformed_url', 'the path is not percent-encoded UTF-8');
    else {
      if (error.code === 'internal') sources.onDefect(error);
      sendError(response, error.code, error.message, error.field);
    }
  });
  return app;
}

function isMalformedUrl(thrown: unknown): boolean {
  return (
    thrown instanceof URIError || (thrown instanceof Error && 'status' in thrown && thrown.status === 400)
  );
}

/** Ready all the same: queries are answered, and a server that is taken out of rotation for what it lacks helps nobody. */
function readyJson(missing: readonly Missing[], isNamed: boolean): string {
  if (missing.length === 0) return '{"status":"ready"}';
  const fault = missing.find(({ what }) => what === 'store');
  const store =
    fault?.what === 'store'
      ? { store: { status: 'failing', cause: fault.cause, message: fault.message } }
      : {};
  return JSON.stringify({
    status: 'ready',
    ...store,
    missing: isNamed ? missing : missingUnnamed(missing),
  });
}
