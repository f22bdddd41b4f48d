import type { ServerResponse } from 'node:http';
import { ERROR_CATALOGUE, errorJson, type ErrorCode } from '../errors/index.js';
import { acceptsGzip, compress, COMPRESS_FROM_BYTES } from './contentCoding.js';
import { contentBytes, type Content } from './content.js';
import { writeInTurns } from './largeAnswer.js';

const NO_HEADERS: readonly string[] = [];

/**
 * Answers with JSON text: head and body leave in one write. `headers` alternates names and values. An answer to a
 * client that is gone is dropped. A large one is compressed for clients that take gzip.
 */
export function sendJson(
  response: ServerResponse,
  status: number,
  text: string,
  headers: readonly string[] = NO_HEADERS,
): void {
  sendText(response, status, 'application/json', text, headers);
}

export function sendText(
  response: ServerResponse,
  status: number,
  contentType: string,
  text: string,
  headers: readonly string[] = NO_HEADERS,
): void {
  if (response.headersSent || response.destroyed) return;
  const bytes = Buffer.byteLength(text);
  if (bytes >= COMPRESS_FROM_BYTES && response.req.method !== 'HEAD') {
    sendLarge(response, status, contentType, text, headers);
    return;
  }
  const head = ['content-type', contentType, 'content-length', String(bytes)];
  for (const part of headers) head.push(part);
  response.writeHead(status, head);
  // One byte a character: latin1 spares the UTF-8 encoder, and Node joins head and body either way.
  response.end(text, bytes === text.length ? 'latin1' : 'utf8');
}

/** Answers with bytes, perhaps in several pieces, as `sendText` does with text. */
export function sendBytes(
  response: ServerResponse,
  status: number,
  contentType: string,
  content: Uint8Array | readonly Uint8Array[],
  headers: readonly string[] = NO_HEADERS,
): void {
  if (response.headersSent || response.destroyed) return;
  const bytes = contentBytes(content);
  if (bytes >= COMPRESS_FROM_BYTES && response.req.method !== 'HEAD') {
    sendLarge(response, status, contentType, content, headers);
    return;
  }
  response.writeHead(status, ['content-type', contentType, 'content-length', String(bytes), ...headers]);
  response.end(content instanceof Uint8Array ? content : Buffer.concat(content));
}

function sendLarge(
  response: ServerResponse,
  status: number,
  contentType: string,
  content: Content,
  headers: readonly string[],
): void {
  const send = (body: Content, encoded: readonly string[]) => {
    if (response.headersSent || response.destroyed) return;
    const bytes = contentBytes(body);
    const others = response.getHeader('vary');
    const vary = typeof others === 'string' ? `${others}, accept-encoding` : 'accept-encoding';
    const head = ['content-type', contentType, 'content-length', String(bytes), 'vary', vary];
    response.writeHead(status, [...head, ...encoded, ...headers]);
    writeInTurns(response, body, bytes);
  };
  if (!acceptsGzip(response.req.headers['accept-encoding'])) send(content, NO_HEADERS);
  else {
    compress(content, (compressed) => {
      if (compressed === undefined) send(content, NO_HEADERS);
      else send(compressed, ['content-encoding', 'gzip']);
    });
  }
}

/** Answers with an error of the catalogue. */
export function sendError(
  response: ServerResponse,
  code: ErrorCode,
  message: string,
  field?: string,
  headers: readonly string[] = NO_HEADERS,
): void {
  sendJson(response, ERROR_CATALOGUE[code].status, errorJson(code, message, field), headers);
}
