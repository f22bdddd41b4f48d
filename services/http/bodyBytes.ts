import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../errors/index.js';
import { overBudget, type BodyBudget } from './bodyBudget.js';
import { BodySource, discard, tooLarge, type ChunkReceiver } from './bodySource.js';
import { readContentCoding } from './contentCoding.js';
import { wantBody } from './continuation.js';
import { GrowingBody } from './growingBody.js';

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

/** Reads a request's body, whatever its Content-Type. A client that leaves before the end is told nothing. */
export function readBytes(request: IncomingMessage, limits: BodyLimits, receiver: BytesReceiver): void {
  openBody(request, limits, receiver, (open) => {
    const body = new GrowingBody(limits.budget, open.length, () => refuse(stalled()));
    const refuse = (error: ServiceError) => {
      body.release();
      source.refuse();
      receiver.onBodyError(error);
    };
    const source = open.start({
      onChunk: (chunk) => {
        if (!body.add(chunk)) refuse(overBudget());
      },
      onEnd: () => {
        body.complete();
        receiver.onBytes(body.take() ?? NO_BYTES, () => body.release());
      },
      onSourceError: (error) => {
        body.release();
        receiver.onBodyError(error);
      },
      onGone: () => body.release(),
    });
  });
}

const NO_BYTES = Buffer.alloc(0);

/** A body that may be read. */
export interface OpenBody {
  /** Decoded, as far as the client says; undefined: it does not. */
  readonly length: number | undefined;
  start(receiver: ChunkReceiver): BodySource;
}

/** Looks at what the headers say of a body: refuses it by them, or lets the client send it and hands it on. */
export function openBody(
  request: IncomingMessage,
  limits: BodyLimits,
  receiver: BodyErrorReceiver,
  read: (body: OpenBody) => void,
): void {
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
  read({
    length: coding === undefined ? length : undefined,
    start: (chunks) => new BodySource(request, coding, limits.bytes, chunks),
  });
}

/** Answers with an error in place of reading the body, which is thrown away. */
export function refuseBody(request: IncomingMessage, receiver: BodyErrorReceiver, error: ServiceError): void {
  discard(request);
  receiver.onBodyError(error);
}

export function stalled(): ServiceError {
  const message = 'hardly anything of the body came for seconds, and others need its memory';
  return new ServiceError('request_timeout', message);
}
