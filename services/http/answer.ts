import type { ServerResponse } from 'node:http';
import { ERROR_CATALOGUE, errorJson, type ErrorCode } from '../errors/index.js';

const NO_HEADERS: readonly string[] = [];

/**
 * Answers with JSON text: head and body leave in one write. `headers` alternates names and values. An answer to a
 * client that is gone is dropped.
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
  const head = ['content-type', contentType, 'content-length', String(bytes)];
  for (const part of headers) head.push(part);
  response.writeHead(status, head);
  // One byte a character: latin1 spares the UTF-8 encoder, and Node joins head and body either way.
  response.end(text, bytes === text.length ? 'latin1' : 'utf8');
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
