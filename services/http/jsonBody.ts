import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { describeValue, ServiceError } from '../errors/index.js';
import { wantBody } from './continuation.js';
import { decodeContent, readContentCoding, type ContentCoding } from './contentCoding.js';

/**
 * How much of an oversize body is read and thrown away, so that a client which sends first and reads later still
 * finds the 413 and keeps its connection; beyond it the connection is cut.
 */
const DISCARD_BYTES = 16 * 1024 * 1024;

export interface JsonBodyReceiver {
  /** The body parsed as JSON. Called once, or `onBodyError` is. */
  onBody(value: unknown): void;
  onBodyError(error: ServiceError): void;
}

/**
 * Reads a request's body as JSON of at most `limitBytes`, as it is sent and as it decodes. A client that leaves before
 * the end is told nothing.
 */
export function readJsonBody(request: IncomingMessage, limitBytes: number, receiver: JsonBodyReceiver): void {
  const headerError = checkHeaders(request, limitBytes);
  if (headerError !== undefined) {
    discard(request);
    receiver.onBodyError(headerError);
    return;
  }
  const coding = readContentCoding(request.headers['content-encoding']);
  if (coding instanceof ServiceError) {
    discard(request);
    receiver.onBodyError(coding);
    return;
  }
  wantBody(request);
  let first: Buffer | undefined;
  let rest: Buffer[] | undefined;
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > limitBytes) {
      // Only a body without Content-Length comes here.
      request.removeAllListeners('data');
      request.removeAllListeners('end');
      discard(request);
      receiver.onBodyError(tooLarge(limitBytes));
    } else if (first === undefined) first = chunk;
    else (rest ??= [first]).push(chunk);
  });
  request.on('end', () => {
    const body = rest === undefined ? first : Buffer.concat(rest, bytes);
    if (coding === undefined || body === undefined) parseBody(body, receiver);
    else decodeBody(request, coding, body, limitBytes, receiver);
  });
}

function decodeBody(
  request: IncomingMessage,
  coding: ContentCoding,
  encoded: Buffer,
  limitBytes: number,
  receiver: JsonBodyReceiver,
): void {
  const overLimit = () => tooLarge(limitBytes);
  decodeContent(coding, encoded, limitBytes, overLimit, (error, body) => {
    // Nobody waits for the answer any more.
    if (request.socket.destroyed) return;
    if (error === undefined) parseBody(body.length === 0 ? undefined : body, receiver);
    else receiver.onBodyError(error);
  });
}

function parseBody(body: Buffer | undefined, receiver: JsonBodyReceiver): void {
  let value: unknown;
  try {
    value = parseJson(body);
  } catch (error) {
    receiver.onBodyError(error instanceof ServiceError ? error : notJson(error));
    return;
  }
  receiver.onBody(value);
}

function checkHeaders(request: IncomingMessage, limitBytes: number): ServiceError | undefined {
  const headers = request.headers;
  const contentType = headers['content-type'];
  if (contentType !== 'application/json' && !isJsonType(contentType)) {
    return new ServiceError(
      'unsupported_media_type',
      `the Content-Type must be application/json, ${describeValue(contentType)} came`,
      'Content-Type',
    );
  }
  const length = headers['content-length'];
  return length !== undefined && Number(length) > limitBytes ? tooLarge(limitBytes) : undefined;
}

/** application/json with no parameter but charset=utf-8. */
function isJsonType(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  const [type, ...parameters] = contentType.toLowerCase().split(';');
  if (type.trim() !== 'application/json') return false;
  return parameters.every((parameter) => {
    const [name, value = ''] = parameter.trim().split('=');
    return name !== 'charset' || ['utf-8', 'utf8'].includes(value.replaceAll('"', ''));
  });
}

function parseJson(body: Buffer | undefined): unknown {
  if (body === undefined) throw new ServiceError('not_json', 'the body is empty; a JSON object was expected');
  if (!isUtf8(body)) throw new ServiceError('not_utf8', 'the body is not valid UTF-8');
  return JSON.parse(body.toString('utf8'));
}

function notJson(cause: unknown): ServiceError {
  const detail = cause instanceof Error ? cause.message : 'unreadable';
  return new ServiceError('not_json', `the body is not JSON: ${detail}`, undefined, { cause });
}

function tooLarge(limitBytes: number): ServiceError {
  return new ServiceError('body_too_large', `the body may have at most ${limitBytes} bytes`);
}

function discard(request: IncomingMessage): void {
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DISCARD_BYTES) request.socket.destroy();
  });
}
