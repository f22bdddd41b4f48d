import express, { type Express, type Request, type Response } from 'express';
import type { AddressInfo } from 'node:net';
import { asServiceError, type ServiceError } from '../errors/index.js';
import {
  JsonServer,
  openApiDocument,
  readJsonBody,
  sendError,
  sendJson,
  sendText,
  type ListenOptions,
  type OpenApiOperation,
} from '../http/index.js';
import { adminVerbs, type AdminSources, type AdminVerb } from './adminVerbs.js';

const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** The management interface on HTTP. It trusts whoever reaches it: bind it to loopback. */
export class ManagementServer {
  private readonly server: JsonServer;

  constructor(
    sources: AdminSources,
    private readonly onDefect: (error: ServiceError) => void = () => undefined,
  ) {
    this.server = new JsonServer(this.routes(adminVerbs(sources)));
  }

  listen(options: ListenOptions): Promise<AddressInfo> {
    return this.server.listen(options);
  }

  close(graceMs: number): Promise<void> {
    return this.server.close(graceMs);
  }

  private routes(verbs: readonly AdminVerb[]): Express {
    const app = express();
    app.disable('x-powered-by');
    app.disable('etag');
    const document = JSON.stringify(
      openApiDocument('Windjammer management', 'Applications, models and links', verbs.map(operation)),
    );
    app.get('/admin/ping', (_request, response) => sendText(response, 200, 'text/plain', 'PONG'));
    app.get('/healthz', (_request, response) => sendJson(response, 200, '{"status":"ok"}'));
    app.get('/openapi.json', (_request, response) => sendJson(response, 200, document));
    app.all(['/admin/ping', '/healthz', '/openapi.json'], (request, response) =>
      refuseMethod(request, response, 'GET, HEAD'),
    );
    for (const verb of verbs) {
      app.post(`/admin/${verb.name}`, (request, response) => this.serve(verb, request, response));
      app.all(`/admin/${verb.name}`, (request, response) => refuseMethod(request, response, 'POST'));
    }
    app.use((_request, response) => sendError(response, 'unknown_route', 'no route has this path'));
    // Express tells an error handler by its four parameters.
    app.use((thrown: unknown, _request: Request, response: Response, _next: express.NextFunction) =>
      this.fail(response, thrown),
    );
    return app;
  }

  private serve(verb: AdminVerb, request: Request, response: Response): void {
    readJsonBody(request, MAX_BODY_BYTES, {
      onBodyError: (error) => this.fail(response, error),
      onBody: (body) => {
        verb.run(body).then(
          (result) => {
            if (typeof result === 'string') sendText(response, 200, 'text/plain; charset=utf-8', result);
            else sendJson(response, 200, JSON.stringify(result));
          },
          (thrown: unknown) => this.fail(response, thrown),
        );
      },
    });
  }

  private fail(response: Response, thrown: unknown): void {
    const error = asServiceError(thrown);
    if (error.code === 'internal') this.onDefect(error);
    sendError(response, error.code, error.message, error.field);
  }
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
    request: verb.request,
    answer: verb.answer ?? { contentType: 'text/plain' },
    errors: ['unknown_field', ...verb.errors],
  };
}
