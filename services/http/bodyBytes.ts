import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../errors/index.js';
import { overBudget, type BodyBudget } from './bodyBudget.js';
import { wantBody } from './continuation.js';
import { decodeContent, readContentCoding, type ContentCoding } from './contentCoding.js';
import { GrowingBody } from './growingBody.js';

/**
 * How much of an oversize body is read and thrown away, so that a client which sends first and reads later still
 * finds the 413 and keeps its connection; beyond it the connection is cut.
 */
const DISCARD_BYTES = 16 * 1024 * 1024;

export interface BodyErrorReceiver {
  onBodyError(error: ServiceError): void;
}

export interface BytesReceiver extends BodyErrorReceiver {
  /**
   * The whole body, decoded; of no bytes when there is none. Called once, or `onBodyError` is.
   * @param release must be called once the bytes are not needed any more: until then they count
   */
  onBytes(body: Buffer, release: () => void): void;
}

/** How much of a body is taken: by itself, and together with all others. */
export interface BodyLimits {
  /** As it is sent and as it decodes. */
  readonly bytes: number;
  readonly budget: BodyBudget;
}

/**
 * Reads a request's body, whatever its Content-Type. A client that leaves before the end is told nothing.
 */
export function readBytes(request: IncomingMessage, limits: BodyLimits, receiver: BytesReceiver): void {
  const lengthText = request.headers['content-length'];
  const length = lengthText === undefined ? undefined : Number(lengthText);
  if (length !== undefined && length > limits.bytes) {
    refuseBody(request, receiver, tooLarge(limits.bytes));
    return;
  }
  const coding = readContentCoding(request.headers['content-encoding']);
  if (coding instanceof ServiceError) {
    refuseBody(request, receiver, coding);
    return;
  }
  wantBody(request);
  const { socket } = request;
  const refuse = (error: ServiceError) => {
    request.removeAllListeners('data');
    request.removeAllListeners('end');
    socket.removeListener('close', release);
    body.release();
    refuseBody(request, receiver, error);
  };
  const body = new GrowingBody(limits.budget, length, () => refuse(stalled()));
  const release = () => body.release();
  request.on('data', (chunk: Buffer) => {
    // Only a body without Content-Length may have more.
    if (body.bytes + chunk.length > limits.bytes) refuse(tooLarge(limits.bytes));
    else if (!body.add(chunk)) refuse(overBudget());
  });
  request.on('end', () => {
    socket.removeListener('close', release);
    body.complete();
    const bytes = body.take();
    if (coding === undefined || bytes === undefined) receiver.onBytes(bytes ?? NO_BYTES, release);
    else decodeBody(request, coding, bytes, body, limits.bytes, receiver);
  });
  // Of a client that leaves before the end: a request that was answered before its end is not closed itself.
  socket.on('close', release);
}

const NO_BYTES = Buffer.alloc(0);

/** Answers with an error in place of reading the body, which is thrown away. */
export function refuseBody(request: IncomingMessage, receiver: BodyErrorReceiver, error: ServiceError): void {
  discard(request);
  receiver.onBodyError(error);
}

function decodeBody(
  request: IncomingMessage,
  coding: ContentCoding,
  encoded: Buffer,
  held: GrowingBody,
  limitBytes: number,
  receiver: BytesReceiver,
): void {
  const overLimit = () => tooLarge(limitBytes);
  decodeContent(coding, encoded, limitBytes, overLimit, (error, body) => {
    // Nobody waits for the answer any more.
    if (request.socket.destroyed) held.release();
    else if (error !== undefined) {
      held.release();
      receiver.onBodyError(error);
    } else if (!held.becomes(body.length)) {
      held.release();
      receiver.onBodyError(overBudget());
    } else receiver.onBytes(body, () => held.release());
  });
}

function stalled(): ServiceError {
  const message = 'nothing of the body came for seconds, and others need its memory';
  return new ServiceError('request_timeout', message);
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
