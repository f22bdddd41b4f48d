import { UnreachableError } from './clientErrors.js';
import { keyHeaders, type ConnectionOptions } from './connectionOptions.js';
import type { ClientSocket, HttpTransport, Pieces, SocketOptions, TransportAnswer } from './transport.js';

/*
 * What nodeTransport.ts is, for browsers. The types of a page are not those of this project: what is used of them is written out.
 */

interface PageSocket {
  binaryType: 'arraybuffer';
  readonly readyState: number;
  onopen: (() => void) | null;
  onmessage: ((event: { readonly data: string | ArrayBuffer }) => void) | null;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null;
  send(data: string | Uint8Array): void;
  close(code?: number): void;
}

interface PageReader {
  read(): Promise<
    { readonly done: true; readonly value?: undefined } | { readonly done: false; readonly value: Uint8Array }
  >;
  cancel(): Promise<void>;
}

declare const WebSocket: new (url: string, protocols: readonly string[]) => PageSocket;

const OPEN = 1;

export function httpTransport(base: URL, connection: ConnectionOptions): HttpTransport {
  refuseCertificates(connection);
  const prefix = base.origin + base.pathname.replace(/\/$/, '');
  return async ({ method, path, headers, body, signal }): Promise<TransportAnswer> => {
    const answer = await fetch(prefix + path, {
      method,
      headers,
      // Browsers stream no body over HTTP/1.1: it is gathered first.
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : await gathered(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    return {
      status: answer.status,
      contentType: answer.headers.get('content-type') ?? '',
      body: piecesOf(answer),
    };
  };
}

async function gathered(pieces: Pieces): Promise<Blob> {
  const parts: (Uint8Array | string)[] = [];
  for await (const piece of pieces) parts.push(piece);
  return new Blob(parts);
}

/** Not by `for await` on the stream itself, which not every browser has. */
async function* piecesOf(answer: Response): AsyncGenerator<Uint8Array> {
  const reader: PageReader | undefined = answer.body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Who stops reading lets go of the connection.
    await reader.cancel().catch(() => undefined);
  }
}

/** A page shows its key as a subprotocol, since it can set no headers; and is never told why a handshake has failed. */
export function openSocket(address: string, options: SocketOptions): Promise<ClientSocket> {
  refuseCertificates(options);
  keyHeaders(options);
  const protocols = options.apiKey === undefined ? [] : ['windjammer', options.apiKey];
  const webSocket = new WebSocket(address, protocols);
  webSocket.binaryType = 'arraybuffer';
  return new Promise((resolve, reject) => {
    const fail = (why: string): void =>
      reject(new UnreachableError(`no WebSocket at ${address}: ${why}; the browser's console may know more`));
    const timer = setTimeout(() => {
      fail(`no answer within ${options.timeoutMs} ms`);
      webSocket.close();
    }, options.timeoutMs);
    webSocket.onclose = ({ code }) => {
      clearTimeout(timer);
      fail(`refused or unreachable (${code})`);
    };
    webSocket.onopen = () => {
      clearTimeout(timer);
      resolve(asClientSocket(webSocket));
    };
  });
}

function asClientSocket(webSocket: PageSocket): ClientSocket {
  return {
    get isOpen() {
      return webSocket.readyState === OPEN;
    },
    listen: ({ onMessage, onClose }) => {
      webSocket.onmessage = ({ data }) =>
        typeof data === 'string' ? onMessage(Buffer.from(data), false) : onMessage(Buffer.from(data), true);
      webSocket.onclose = ({ code, reason }) => onClose(code, reason);
    },
    send: (data) => webSocket.send(data),
    close: () => webSocket.close(1000),
    drop: () => webSocket.close(),
  };
}

function refuseCertificates({ ca, cert, key }: ConnectionOptions): void {
  if (ca === undefined && cert === undefined && key === undefined) return;
  throw new TypeError(
    'ca, cert and key are for Node: in a browser, certificates are the browser’s own affair',
  );
}
