import type { ConnectionOptions } from './connectionOptions.js';

/*
 * What a client needs of the platform that it runs on: nodeTransport.ts and, in the bundle for browsers, browserTransport.ts in its place.
 */

/** What is sent piece by piece; a `Readable` of Node is one. */
export type Pieces = AsyncIterable<Uint8Array | string>;

export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Begins with a slash; the whole of it is a path, also where it begins with two. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Pieces | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface TransportAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Asks one server. Rejects with what the platform says when there is no answer. */
export type HttpTransport = (request: TransportRequest) => Promise<TransportAnswer>;

export interface SocketEvents {
  readonly onMessage: (data: Buffer, isBinary: boolean) => void;
  /** Once; nothing comes after it. */
  readonly onClose: (code: number, reason: string) => void;
}

/** An open WebSocket. */
export interface ClientSocket {
  readonly isOpen: boolean;
  listen(events: SocketEvents): void;
  send(data: string | Buffer): void;
  /** Says goodbye; `onClose` follows. */
  close(): void;
  /** Without a word, where the platform lets one. */
  drop(): void;
}

export interface SocketOptions extends ConnectionOptions {
  readonly timeoutMs: number;
}
