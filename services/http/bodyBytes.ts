import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../errors/index.js';
import { wantBody } from './continuation.js';
import { decodeContent, readContentCoding, type ContentCoding } from './contentCoding.js';

/**
 * How much of an oversize body is read and thrown away, so that a client which sends first and reads later still
 * finds the 413 and keeps its connection; beyond it the connection is cut.
 */
const DISCARD_BYTES = 16 * 1024 * 1024;

export interface BodyErrorReceiver {
  onBodyError(error: ServiceError): void;
}

export interface BytesReceiver extends BodyErrorReceiver {
  /** The whole body, decoded; of no bytes when there is none. Called once, or `onBodyError` is. */
  onBytes(body: Buffer): void;
}

/**
 * Reads a request's body of at most `limitBytes`, as it is sent and as it decodes, whatever its Content-Type. A client
 * that leaves before the end is told nothing.
 */
export function readBytes(request: IncomingMessage, limitBytes: number, receiver: BytesReceiver): void {
  readBody(request, limitBytes, receiver, deliverBytes);
}

const NO_BYTES = Buffer.alloc(0);

function deliverBytes(body: Buffer | undefined, receiver: BytesReceiver): void {
  receiver.onBytes(body ?? NO_BYTES);
}

/** The same for any receiver. @param deliver is told `undefined` of an empty body. */
export function readBody<R extends BodyErrorReceiver>(
  request: IncomingMessage,
  limitBytes: number,
  receiver: R,
  deliver: (body: Buffer | undefined, receiver: R) => void,
): void {
  const length = request.headers['content-length'];
  if (length !== undefined && Number(length) > limitBytes) {
    refuseBody(request, receiver, tooLarge(limitBytes));
    return;
  }
  const coding = readContentCoding(request.headers['content-encoding']);
  if (coding instanceof ServiceError) {
    refuseBody(request, receiver, coding);
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
      refuseBody(request, receiver, tooLarge(limitBytes));
    } else if (first === undefined) first = chunk;
    else (rest ??= [first]).push(chunk);
  });
  request.on('end', () => {
    const body = rest === undefined ? first : Buffer.concat(rest, bytes);
    if (coding === undefined || body === undefined) deliver(body, receiver);
    else decodeBody(request, coding, body, limitBytes, receiver, deliver);
  });
}

/** Answers with an error in place of reading the body, which is thrown away. */
export function refuseBody(request: IncomingMessage, receiver: BodyErrorReceiver, error: ServiceError): void {
  discard(request);
  receiver.onBodyError(error);
}

function decodeBody<R extends BodyErrorReceiver>(
  request: IncomingMessage,
  coding: ContentCoding,
  encoded: Buffer,
  limitBytes: number,
  receiver: R,
  deliver: (body: Buffer | undefined, receiver: R) => void,
): void {
  const overLimit = () => tooLarge(limitBytes);
  decodeContent(coding, encoded, limitBytes, overLimit, (error, body) => {
    // Nobody waits for the answer any more.
    if (request.socket.destroyed) return;
    if (error === undefined) deliver(body.length === 0 ? undefined : body, receiver);
    else receiver.onBodyError(error);
  });
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
