import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '../errors/index.js';
import type { QueryTrace, TraceScope } from '../prediction/index.js';

/** Whoever traces requests. Each gets a trace of its own, or none when it is not sampled. */
export interface RequestTracing {
  /** @param route as a pattern: `/{application}/predict`. The trace ends with the response. */
  onHttpRequest(request: IncomingMessage, response: ServerResponse, route: string): RequestTrace | undefined;
  /** A message of a WebSocket. A `predict` ends with its query, `feedback` with `end`. */
  onMessage(type: 'predict' | 'feedback', traceparent: string | undefined): RequestTrace | undefined;
}

/** The trace of a request. */
export interface RequestTrace extends TraceScope {
  /** W3C trace context: this request as the parent of what comes next. */
  readonly traceparent: string;
  /** One of its queries. */
  query(id: string, application: string): QueryTrace;
  /** It is answered with an error. */
  onRefused(code: ErrorCode): void;
  end(): void;
}
