import { SpanStatusCode, type Span } from '@opentelemetry/api';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ERROR_CATALOGUE, type ErrorCode } from '../errors/index.js';
import type { RequestTrace } from '../frontend/index.js';
import type { QueryTrace } from '../prediction/index.js';
import { ScopeSpan } from './modelSpan.js';
import { QuerySpan } from './querySpan.js';
import type { SpanFactory } from './spanFactory.js';
import { traceparentOf } from './traceContext.js';

/** A request as its server sees it: an HTTP exchange, or a message of a WebSocket. */
export class RequestSpan extends ScopeSpan implements RequestTrace {
  readonly traceparent: string;

  /** @param isMessage a message ends with its only query. */
  constructor(
    spans: SpanFactory,
    span: Span,
    private readonly isMessage: boolean,
  ) {
    super(spans, span);
    this.traceparent = traceparentOf(span);
  }

  query(id: string, application: string): QueryTrace {
    const onEnded = this.isMessage ? () => this.end() : undefined;
    return new QuerySpan(this.spans, this.span, id, application, onEnded);
  }

  onRefused(code: ErrorCode): void {
    this.span.setAttribute('windjammer.error.code', code);
    // A client's mistake is no error of the server's span.
    if (ERROR_CATALOGUE[code].status < 500) return;
    this.span.setAttribute('error.type', code);
    this.span.setStatus({ code: SpanStatusCode.ERROR });
  }

  end(): void {
    this.span.end(this.spans.nowMs());
  }

  onResponseClosed({ statusCode, writableFinished, req }: ServerResponse): void {
    if (writableFinished && !req.readableAborted) {
      this.span.setAttribute('http.response.status_code', statusCode);
      if (statusCode >= 500) this.span.setStatus({ code: SpanStatusCode.ERROR });
    } else {
      this.span.setAttribute('error.type', 'client_gone');
    }
    this.end();
  }
}

/** OpenTelemetry's names for an HTTP request that a server gets, beside method and route. */
export function httpAttributes(request: IncomingMessage): Record<string, string | number> {
  const { url = '/', headers, socket, httpVersion } = request;
  const query = url.indexOf('?');
  const attributes: Record<string, string | number> = {
    'url.path': query < 0 ? url : url.slice(0, query),
    'url.scheme': 'encrypted' in socket ? 'https' : 'http',
    'network.protocol.version': httpVersion,
  };
  if (query >= 0) attributes['url.query'] = url.slice(query + 1);
  if (headers['user-agent'] !== undefined) attributes['user_agent.original'] = headers['user-agent'];
  if (socket.remoteAddress !== undefined) attributes['network.peer.address'] = socket.remoteAddress;
  if (socket.localPort !== undefined) attributes['server.port'] = socket.localPort;
  if (headers.host !== undefined) attributes['server.address'] = headers.host.replace(/:\d+$/, '');
  return attributes;
}
