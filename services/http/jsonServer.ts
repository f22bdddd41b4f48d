import {
  createServer,
  IncomingMessage,
  ServerResponse,
  STATUS_CODES,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  type Server,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ERROR_CATALOGUE, errorJson, type ErrorCode } from '../errors/index.js';
import { sendError } from './answer.js';
import { DEFAULT_BUFFERED_BYTES } from './bodyBudget.js';
import type { Certificates } from './certificates.js';
import { ConnectionLimit, type ConnectionCounts } from './connectionLimit.js';
import { holdContinue } from './continuation.js';
import { READING } from './reading.js';
import { RequestPacer, type Concurrency } from './requestPacer.js';
import { UnreadAnswers } from './unreadAnswers.js';

export interface ListenOptions {
  readonly host: string;
  /** 0: the system picks one. */
  readonly port: number;
}

/** Timeouts of connections. A slow client is answered 408 and cut; an idle one is cut. */
export interface ConnectionTimeouts {
  readonly headersMs: number;
  readonly requestMs: number;
  readonly keepAliveMs: number;
}

export const DEFAULT_TIMEOUTS: ConnectionTimeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 65_000,
};

/** How often Node looks for connections that are over time. */
const TIMEOUT_CHECK_MS = 2_000;

/** How often idle connections are closed while the server closes. */
const IDLE_SWEEP_MS = 50;

/** Takes connections that leave HTTP. */
export interface UpgradeReceiver {
  /** Whether a request with an Upgrade header is one; any other is answered as if it had none (RFC 9110, 7.8). */
  wants(request: IncomingMessage): boolean;
  onUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void;
}

export interface JsonServerOptions {
  readonly timeouts?: ConnectionTimeouts;
  readonly upgrades?: UpgradeReceiver;
  /** Speaks TLS, and nothing else, with what this holds. */
  readonly certificates?: Certificates | undefined;
  readonly maxConnections?: number | undefined;
  /** Whether a request is answered also on a connection over the limit: probes, so that a full server is not a dead one. */
  readonly isProbe?: (request: IncomingMessage) => boolean;
  /** Whether a request's body may take longer than others: whoever reads it gives up on one that does not get on. */
  readonly isLong?: (request: IncomingMessage) => boolean;
  /** Of pipelined requests, how many are answered at a time; undefined: one. */
  readonly concurrency?: Concurrency | undefined;
  /** Of answers that clients do not read, over all connections; with more the connections of those that have stopped are ended. */
  readonly unreadBytes?: number | undefined;
}

/** Idle ones cost the process about 6 KiB each, and are closed once their time for headers is over. */
export const DEFAULT_MAX_CONNECTIONS = 10_000;

/** What a port in use, a forbidden one or an unknown host looks like to whoever starts the server. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/**
 * A `node:http` or `node:https` server with a life: listen, drain, close. What it answers is its listener's business.
 */
export class JsonServer {
  private readonly server: Server;
  /** Connections that left HTTP: Node's server does not count them any more. */
  private readonly upgraded = new Set<Socket>();
  /** Of each connection, the response to the request that began last. */
  private readonly latestResponses = new WeakMap<Duplex, ServerResponse>();
  private readonly refused = new WeakSet<Duplex>();
  private readonly limit: ConnectionLimit;
  private readonly unread: UnreadAnswers;
  private readonly isProbe: (request: IncomingMessage) => boolean;
  private readonly isLong: (request: IncomingMessage) => boolean;
  /** Connections that have not finished their TLS handshake among them; empty without TLS. */
  private readonly rawSockets = new Set<Socket>();
  private readonly unwatchCertificates: (() => void) | undefined;
  private closing = false;

  constructor(
    listener: (request: IncomingMessage, response: ServerResponse) => void,
    {
      timeouts = DEFAULT_TIMEOUTS,
      upgrades,
      certificates,
      maxConnections,
      isProbe,
      isLong,
      concurrency,
      unreadBytes,
    }: JsonServerOptions = {},
  ) {
    this.limit = new ConnectionLimit(maxConnections ?? DEFAULT_MAX_CONNECTIONS);
    this.unread = new UnreadAnswers(unreadBytes ?? DEFAULT_BUFFERED_BYTES);
    this.isProbe = isProbe ?? (() => false);
    this.isLong = isLong ?? (() => false);
    const pacer = new RequestPacer(listener, concurrency ?? (() => 1));
    const admit = (socket: Socket) => {
      this.limit.admit(socket);
      READING.watch(socket);
      this.unread.watch(socket);
    };
    const isClosing = () => this.closing;
    /** Every answer while closing ends its connection, those to earlier requests too, so that clients move on. */
    class Response<R extends IncomingMessage> extends ServerResponse<R> {
      override writeHead(
        status: number,
        first?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
        second?: OutgoingHttpHeaders | OutgoingHttpHeader[],
      ): this {
        if (isClosing()) this.shouldKeepAlive = false;
        return super.writeHead(status, first as string, second);
      }
    }
    const options = {
      IncomingMessage: upgrades === undefined ? IncomingMessage : upgradableRequest(upgrades),
      ServerResponse: Response,
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      keepAliveTimeout: timeouts.keepAliveMs,
      connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, timeouts.headersMs, timeouts.requestMs),
      noDelay: true,
      // Checked in `onRequest`, so that the refusal is one of the catalogue.
      requireHostHeader: false,
    };
    if (certificates === undefined) {
      this.server = createServer(options);
      this.server.on('connection', admit);
    } else {
      const server = createSecureServer({
        ...options,
        ...certificates.context,
        requestCert: certificates.asksClients,
        handshakeTimeout: timeouts.headersMs,
      });
      this.server = server;
      this.unwatchCertificates = certificates.watch((context) => server.setSecureContext(context));
      server.on('connection', (socket: Socket) => {
        this.rawSockets.add(socket);
        socket.once('close', () => this.rawSockets.delete(socket));
      });
      server.on('secureConnection', admit);
    }
    this.server.maxConnections = this.limit.hardLimit;
    this.server.on('drop', () => this.limit.onDropped());
    const onRequest = (request: IncomingMessage, response: ServerResponse) => {
      const before = this.latestResponses.get(request.socket);
      this.latestResponses.set(request.socket, response);
      // Express puts its own prototype in place of the class above.
      if (this.closing) response.shouldKeepAlive = false;
      if (request.headers.host === undefined && request.httpVersion === '1.1') {
        refuseRequest(response, 'malformed_http', 'an HTTP/1.1 request needs a Host header');
        return;
      }
      if (this.limit.isSurplus(request.socket) && !this.isProbe(request)) {
        const message = 'the server has as many connections as it takes';
        refuseRequest(response, 'too_many_connections', message, RETRY_SOON);
        return;
      }
      if (request.url !== undefined && request.url.charCodeAt(0) !== SLASH)
        request.url = originForm(request.url);
      pacer.receive(request, response, before);
    };
    this.server.on('request', onRequest);
    // Node would ask for any body, also for one that is refused by its headers.
    this.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      holdContinue(request, response, isClosing);
      onRequest(request, response);
    });
    // An expectation other than 100-continue may be ignored (RFC 9110, 10.1.1); Node would refuse it without a body.
    this.server.on('checkExpectation', onRequest);
    this.server.on('connect', (_request: IncomingMessage, socket: Socket) => {
      socket.on('error', () => socket.destroy());
      sendRawError(socket, 'method_not_allowed', 'CONNECT is not allowed here: this is no proxy');
    });
    this.server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) =>
      this.onClientError(error, socket),
    );
    if (upgrades !== undefined) {
      this.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
        this.upgraded.add(socket);
        socket.on('close', () => this.upgraded.delete(socket));
        // Until its receiver listens: a client that is gone already must not bring the process down.
        socket.on('error', () => socket.destroy());
        if (this.limit.isSurplus(socket)) {
          sendRawError(socket, 'too_many_connections', 'the server has as many connections as it takes');
        } else upgrades.onUpgrade(request, socket, head);
      });
    }
  }

  /**
   * Bytes that Node's parser refused, or a client over time: a catalogue error, and the connection ends. It waits for
   * the answers to requests that were pipelined before the bad bytes: each client counts answers.
   */
  private onClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
    // Before its handshake is over nothing can be said to a client of TLS.
    if (error.code === 'ECONNRESET' || !socket.writable || !this.limit.hasAdmitted(socket)) {
      socket.destroy();
      return;
    }
    // Every further packet of a connection that is refused is an error again.
    if (this.refused.has(socket)) return;
    const latest = this.latestResponses.get(socket);
    // Node says so once of each request, and leaves it to its listener.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && latest !== undefined && isUnderWay(latest)) {
      if (this.isLong(latest.req)) return;
    }
    this.refused.add(socket);
    const [code, message] = connectionError(error);
    if (latest === undefined || latest.writableFinished) sendRawError(socket, code, message);
    else if (!latest.req.complete && !latest.headersSent) refuseRequest(latest, code, message);
    else latest.once('close', () => sendRawError(socket, code, message));
  }

  /** @throws ListenError (as a rejection) with what to do about it. */
  listen({ host, port }: ListenOptions): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      const onError = (error: NodeJS.ErrnoException) => reject(listenError(error, host, port));
      this.server.once('error', onError);
      this.server.listen({ host, port }, () => {
        this.server.off('error', onError);
        resolve(this.server.address() as AddressInfo);
      });
    });
  }

  connections(): ConnectionCounts {
    return this.limit.counts();
  }

  /** From here on each answer closes its connection; new connections are still accepted. */
  beginClosing(): void {
    this.closing = true;
  }

  /**
   * Stops accepting, waits for requests that are being answered and resolves when every connection is gone: at the
   * latest after `graceMs`, when those left are cut.
   */
  close(graceMs: number): Promise<void> {
    this.beginClosing();
    return new Promise((resolve) => {
      const cut = setTimeout(() => {
        this.server.closeAllConnections();
        for (const socket of this.upgraded) socket.destroy();
        for (const socket of this.rawSockets) socket.destroy();
      }, graceMs);
      // An answer that had left its headers before the closing began keeps its connection, which then idles.
      const sweep = setInterval(() => this.server.closeIdleConnections(), IDLE_SWEEP_MS);
      this.server.close(() => {
        clearTimeout(cut);
        clearInterval(sweep);
        this.unread.close();
        this.unwatchCertificates?.();
        resolve();
      });
      this.server.closeIdleConnections();
    });
  }
}

/**
 * With a listener for `upgrade`, Node takes every request with an Upgrade header out of HTTP, also the `h2c` that some
 * clients offer with each request, and leaves its body unread. It asks the request itself whether it is one.
 */
function upgradableRequest(upgrades: UpgradeReceiver): typeof IncomingMessage {
  return class extends IncomingMessage {
    private offersUpgrade = false;

    get upgrade(): boolean {
      return this.offersUpgrade && (this.method === 'CONNECT' || upgrades.wants(this));
    }

    set upgrade(offered: boolean) {
      this.offersUpgrade = offered;
    }
  };
}

/** What to do about an address that cannot be listened on. */
export function listenError(error: NodeJS.ErrnoException, host: string, port: number): ListenError {
  const advice: Record<string, string> = {
    EADDRINUSE: 'the port is in use; stop what uses it or choose another port (0 lets the system pick)',
    EACCES: 'no permission to listen on this port; choose one above 1023',
    EADDRNOTAVAIL: 'this machine has no such address; choose another host',
    ENOTFOUND: 'the host name does not resolve; choose another host',
  };
  const reason = advice[error.code ?? ''] ?? error.message;
  return new ListenError(`cannot listen on ${host}:${port}: ${reason}`, { cause: error });
}

/** Of an absolute-form target (RFC 9112, 3.2.2) the part behind the authority; any other target as it is. */
function originForm(target: string): string {
  const match = /^https?:\/\/[^/?#]*/i.exec(target);
  if (match === null) return target;
  const rest = target.slice(match[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Its body is still coming. */
function isUnderWay({ req, headersSent }: ServerResponse): boolean {
  return !req.complete && !headersSent;
}

const SLASH = 47;

/** Seconds. */
const RETRY_SOON = ['retry-after', '1'] as const;

/** Refuses a request with its response, which Node sends behind the answers to earlier ones, and ends the connection. */
function refuseRequest(
  response: ServerResponse,
  code: ErrorCode,
  message: string,
  headers?: readonly string[],
): void {
  response.shouldKeepAlive = false;
  sendError(response, code, message, undefined, headers);
}

/** How long a client that was refused may take to close its side: none may keep a connection that nobody watches. */
const LINGER_MS = 2_000;

/** Answers with an error of the catalogue where there is no response object, and ends the connection. */
export function sendRawError(
  socket: Duplex,
  code: ErrorCode,
  message: string,
  field?: string,
  headers: readonly string[] = [],
): void {
  let more = '';
  for (let at = 0; at < headers.length; at += 2) more += `${headers[at]}: ${headers[at + 1]}\r\n`;
  const body = errorJson(code, message, field);
  const status = ERROR_CATALOGUE[code].status;
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n${more}\r\n${body}`,
  );
  // What still comes is thrown away: left unread it would reset the connection under the answer.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}

function connectionError(error: NodeJS.ErrnoException): readonly [ErrorCode, string] {
  if (error.code === 'HPE_HEADER_OVERFLOW') return ['headers_too_large', 'the headers have more than 16 KiB'];
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return ['request_timeout', 'the request did not arrive in time'];
  return ['malformed_http', `not an HTTP/1.1 request: ${error.message}`];
}
