import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { chosenProtocol, Denial, type AccessKey, type Gate } from '../../access/index.js';
import type { ErrorCode } from '../../errors/index.js';
import { sendRawError, type BodyBudget, type UpgradeReceiver } from '../../http/index.js';
import type { ExchangeContext } from '../exchanges.js';
import type { RouteTable } from '../routeTable.js';
import { Connection } from './connection.js';
import type { ConnectionContext, Flushed } from './connectionContext.js';
import { FrameWriter } from './frameWriter.js';
import type { WebSocketLimits } from './limits.js';
import { originAllowed } from './origin.js';

export const WEB_SOCKET_PATH = '/ws';

export interface WebSocketFrontendOptions {
  readonly exchange: ExchangeContext;
  readonly routes: RouteTable;
  readonly limits: WebSocketLimits;
  /** The memory of messages under way. */
  readonly budget: BodyBudget;
  /** Who may connect; undefined: anybody. */
  readonly gate?: Gate | undefined;
  /** Beside the server's own: of web pages that may connect. */
  readonly allowedOrigins: readonly string[];
}

/** What a client reads when the protocol itself was broken; the library gives the code alone. */
const CLOSE_REASONS: ReadonlyMap<number, string> = new Map([
  [1002, 'the bytes are no WebSocket frames'],
  [1007, 'a text message is not valid UTF-8'],
  [1008, 'a message has too many fragments'],
  [1009, 'a message is too large'],
]);

/** A WebSocket that says why it closes. */
class ReasonedWebSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    super.close(code, reason ?? (code === undefined ? undefined : CLOSE_REASONS.get(code)));
  }
}

/** The WebSocket interface on the server of the query interface: `/ws`. */
export class WebSocketFrontend implements UpgradeReceiver {
  private readonly connections = new Set<Connection>();
  private readonly handshakes: WebSocketServer;
  private readonly context: ConnectionContext;
  private readonly pings: NodeJS.Timeout;
  private readonly unflushed: Flushed[] = [];
  private isDraining = false;

  constructor(private readonly options: WebSocketFrontendOptions) {
    const { exchange, routes, limits, gate, budget } = options;
    this.handshakes = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      // Answers are small, and compressing them would cost more than serving them.
      perMessageDeflate: false,
      maxPayload: Math.min(2 * limits.messageBytes, 2 ** 31 - 1),
      // The library would take the first that is offered, and so might answer with a key.
      handleProtocols: chosenProtocol,
      WebSocket: ReasonedWebSocket,
    });
    this.handshakes.on('wsClientError', (error, socket) =>
      sendRawError(socket, 'malformed_http', `no WebSocket handshake: ${error.message}`),
    );
    this.context = {
      ...exchange,
      routes,
      limits,
      budget,
      gate,
      frames: new FrameWriter(),
      isDraining: () => this.isDraining,
      flushSoon: (connection) => this.flushSoon(connection),
    };
    this.pings = setInterval(() => {
      for (const connection of this.connections) connection.keepAlive();
    }, limits.pingMs);
    this.pings.unref();
  }

  get size(): number {
    return this.connections.size;
  }

  bufferedBytes(): number {
    let bytes = 0;
    for (const connection of this.connections) bytes += connection.bufferedBytes;
    return bytes;
  }

  wants({ url, headers }: IncomingMessage): boolean {
    const path = url?.split('?', 1)[0];
    return path === WEB_SOCKET_PATH && headers.upgrade?.toLowerCase() === 'websocket';
  }

  onUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const { origin, host } = request.headers;
    if (this.isDraining) {
      sendRawError(socket, 'shutting_down', 'the server is draining');
    } else if (!originAllowed(origin, host, this.options.allowedOrigins)) {
      this.refuse(socket, 'origin_not_allowed', `pages of ${origin} may not connect`, 'Origin');
    } else {
      const key = this.options.gate?.admitWebSocket(request);
      if (key instanceof Denial) this.refuse(socket, key.code, key.message, key.field, key.headers);
      else if (this.connections.size >= this.options.limits.connections) {
        const message = `the server takes ${this.options.limits.connections} WebSockets at once`;
        this.refuse(socket, 'too_many_connections', message, undefined, ['retry-after', '1']);
      } else {
        this.handshakes.handleUpgrade(request, socket, head, (webSocket) =>
          this.admit(webSocket, socket, key),
        );
      }
    }
  }

  /** Takes nothing new; each connection is closed with 1001 once its messages in flight are answered. */
  drain(): void {
    this.isDraining = true;
    clearInterval(this.pings);
    for (const connection of this.connections) connection.closeWhenIdle();
  }

  private refuse(
    socket: Socket,
    code: ErrorCode,
    message: string,
    field?: string,
    headers?: readonly string[],
  ): void {
    this.options.exchange.observer.onRefused(undefined, code);
    sendRawError(socket, code, message, field, headers);
  }

  private admit(webSocket: WebSocket, socket: Socket, key: AccessKey | undefined): void {
    const connection = new Connection(this.context, webSocket, socket, key);
    this.connections.add(connection);
    const release = key?.hold(() => connection.endAccess());
    webSocket.on('close', () => {
      this.connections.delete(connection);
      release?.();
    });
    if (this.isDraining) connection.closeWhenIdle();
  }

  private flushSoon(connection: Flushed): void {
    this.unflushed.push(connection);
    // After the event that is being handled: the answers of a whole batch are there by then.
    if (this.unflushed.length === 1) process.nextTick(this.flush);
  }

  private readonly flush = (): void => {
    for (const connection of this.unflushed.splice(0)) connection.flush();
  };
}
