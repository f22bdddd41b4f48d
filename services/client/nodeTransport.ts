import { Agent as HttpAgent, request as requestHttp, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { Readable } from 'node:stream';
import { WebSocket } from 'ws';
import { type RefusedError, UnexpectedAnswerError, unreachable } from './clientErrors.js';
import { keyHeaders, type ConnectionOptions } from './connectionOptions.js';
import { readRefusal } from './jsonBodies.js';
import type { ClientSocket, HttpTransport, SocketOptions } from './transport.js';

/** Shared by every client of the process that says nothing of certificates. */
const PLAIN = new HttpAgent({ keepAlive: true });
const SECURE = new HttpsAgent({ keepAlive: true });

/** On connections that are kept alive. Not by `fetch`, which can be told of no authority. */
export function httpTransport(base: URL, connection: ConnectionOptions): HttpTransport {
  const ask = base.protocol === 'http:' ? requestHttp : requestHttps;
  const agent = agentFor(base, connection);
  // Not resolved against the address: `//` would begin another host, which would be shown the key.
  const prefix = base.pathname.replace(/\/$/, '');
  return ({ method, path, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const length = typeof body === 'string' ? { 'content-length': Buffer.byteLength(body) } : {};
      const options = { method, path: prefix + path, agent, headers: { ...headers, ...length }, signal };
      const outgoing = ask(base, options, (answer) =>
        resolve({
          status: answer.statusCode ?? 0,
          contentType: answer.headers['content-type'] ?? '',
          body: answer,
        }),
      );
      outgoing.on('error', reject);
      if (body === undefined || typeof body === 'string') outgoing.end(body);
      else {
        // A server that refuses does not read to the end: its answer counts, and no pipe that broke.
        const pieces = body instanceof Readable ? body : Readable.from(body);
        pieces.on('error', (cause) => outgoing.destroy(cause));
        pieces.pipe(outgoing);
      }
    });
}

function agentFor({ protocol }: URL, { ca, cert, key }: ConnectionOptions): HttpAgent {
  if (protocol === 'http:') return PLAIN;
  if (ca === undefined && cert === undefined) return SECURE;
  return new HttpsAgent({ keepAlive: true, ca, cert, key });
}

/** @throws RefusedError when the server does not take the connection, SecurityError, UnreachableError */
export function openSocket(address: string, options: SocketOptions): Promise<ClientSocket> {
  const webSocket = new WebSocket(address, {
    perMessageDeflate: false,
    handshakeTimeout: options.timeoutMs,
    headers: keyHeaders(options),
    ca: options.ca,
    cert: options.cert,
    key: options.key,
  });
  return new Promise((resolve, reject) => {
    webSocket.once('open', () => resolve(asClientSocket(webSocket)));
    webSocket.once('unexpected-response', (_request, answer: IncomingMessage) => {
      readText(answer, (text) => {
        webSocket.terminate();
        reject(
          refusalOf(text, answer.statusCode ?? 0) ??
            new UnexpectedAnswerError(`${address} answers ${answer.statusCode}`),
        );
      });
    });
    // After the handshake, what was wrong is in the code that the socket closes with.
    webSocket.on('error', (cause) =>
      reject(unreachable(address, `no WebSocket at ${address}: ${cause.message}`, cause)),
    );
  });
}

function asClientSocket(webSocket: WebSocket): ClientSocket {
  return {
    get isOpen() {
      return webSocket.readyState === WebSocket.OPEN;
    },
    listen: ({ onMessage, onClose }) => {
      webSocket.on('message', (data, isBinary) => onMessage(data as Buffer, isBinary));
      webSocket.on('close', (code, reason) => onClose(code, reason.toString()));
    },
    send: (data) => webSocket.send(data),
    close: () => webSocket.close(1000),
    drop: () => webSocket.terminate(),
  };
}

/** Beyond it an answer is none of ours. */
const MOST_TEXT = 65_536;

function readText(answer: IncomingMessage, done: (text: string) => void): void {
  let text = '';
  answer.on('data', (part: Buffer) => {
    if (text.length < MOST_TEXT) text += part.toString('utf8');
  });
  answer.once('close', () => done(text));
}

function refusalOf(text: string, status: number): RefusedError | undefined {
  try {
    return readRefusal(JSON.parse(text), status);
  } catch {
    return undefined;
  }
}
