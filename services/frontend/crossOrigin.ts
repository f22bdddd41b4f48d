import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendError } from '../http/index.js';
import {
  CLASS_HEADER,
  GRPC_TIMEOUT_HEADER,
  PRIORITY_HEADER,
  STRICT_HEADER,
  TIMEOUT_HEADER,
} from './queryHeaders.js';

/** Headers of requests that pages may set, beside those that any page may. */
const REQUEST_HEADERS = [
  'accept-encoding',
  'authorization',
  'content-encoding',
  'content-type',
  GRPC_TIMEOUT_HEADER,
  'inference-header-content-length',
  'traceparent',
  'tracestate',
  'x-api-key',
  TIMEOUT_HEADER,
  PRIORITY_HEADER,
  CLASS_HEADER,
  STRICT_HEADER,
].join(', ');

/** Headers of answers that pages may read, beside those that any page may. */
const ANSWER_HEADERS = 'inference-header-content-length, retry-after, www-authenticate, x-windjammer-default';

const METHODS = 'GET, HEAD, POST';

/** How long a browser may keep what a preflight said: as long as Chromium does at most. */
const PREFLIGHT_SECONDS = '7200';

/**
 * What web pages of other origins may do (the CORS protocol of the Fetch standard). Origins that are named may send
 * credentials; those that only `*` lets in may not.
 */
export class CrossOrigin {
  private readonly named: ReadonlySet<string>;
  private readonly any: boolean;

  /** @param allowed origins as browsers write them, `https://host:port`; `*`: any */
  constructor(allowed: readonly string[]) {
    this.named = new Set(allowed.filter((origin) => origin !== '*'));
    this.any = allowed.includes('*');
  }

  /**
   * Puts the headers on the response to a request. To be called before anything else looks at it: a preflight has
   * neither a body nor a key.
   * @returns true when it was a preflight, which is answered
   */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const { origin } = request.headers;
    // Also for requests without an origin: caches must not hand their answers to pages.
    if (this.named.size > 0) response.setHeader('vary', 'origin');
    if (origin === undefined) return false;
    const isNamed = this.named.has(origin);
    const isPreflight =
      request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
    if (!isNamed && !this.any) {
      if (isPreflight) {
        const message = `pages of ${origin.slice(0, 256)} may not use this server: --allow-origin names those that may`;
        sendError(response, 'origin_not_allowed', message, 'Origin');
      }
      return isPreflight;
    }
    response.setHeader('access-control-allow-origin', isNamed ? origin : '*');
    if (isNamed) response.setHeader('access-control-allow-credentials', 'true');
    if (!isPreflight) {
      response.setHeader('access-control-expose-headers', ANSWER_HEADERS);
      return false;
    }
    response.writeHead(204, [
      'access-control-allow-methods',
      METHODS,
      'access-control-allow-headers',
      REQUEST_HEADERS,
      'access-control-max-age',
      PREFLIGHT_SECONDS,
    ]);
    response.end();
    return true;
  }
}
