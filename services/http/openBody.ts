import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../errors/index.js';
import { SMALL_BYTES } from '../json/index.js';
import type { BodyBudget } from './bodyBudget.js';
import { BodySource, discard, tooLarge, type ChunkReceiver } from './bodySource.js';
import { readContentCoding, type ContentCoding } from './contentCoding.js';
import { wantBody } from './continuation.js';

/** How much of a body is taken: by itself, and together with all others. */
export interface BodyLimits {
  /** As it is sent and as it decodes. */
  readonly bytes: number;
  readonly budget: BodyBudget;
}

export interface BodyErrorReceiver {
  onBodyError(error: ServiceError): void;
}

export interface BodyReader extends BodyErrorReceiver {
  /** All of a small body. */
  onWhole(body: Buffer): void;
  /** Any other: must be started before this returns. */
  onPieces(body: OpenBody): void;
}

/** A body that may be read. */
export class OpenBody {
  private source: BodySource | undefined;

  constructor(
    private readonly request: IncomingMessage,
    private readonly coding: ContentCoding | undefined,
    private readonly limitBytes: number,
  ) {}

  /** Decoded, as far as the client says; undefined: it does not. */
  get length(): number | undefined {
    const length = this.request.headers['content-length'];
    return length === undefined || this.coding !== undefined ? undefined : Number(length);
  }

  start(receiver: ChunkReceiver): BodySource {
    return (this.source = new BodySource(this.request, this.coding, this.limitBytes, receiver));
  }

  /** A chunk that somebody else has heard of. */
  give(chunk: Buffer): void {
    this.source?.take(chunk);
  }
}

/** Looks at what the headers say of a body: refuses it by them, or lets the client send it and hands it on. */
export function openBody(request: IncomingMessage, limits: BodyLimits, reader: BodyReader): void {
  const { headers } = request;
  const lengthText = headers['content-length'];
  const length = lengthText === undefined ? undefined : Number(lengthText);
  if (length !== undefined && length > limits.bytes) {
    refuseBody(request, reader, tooLarge(limits.bytes));
    return;
  }
  const coding = readContentCoding(headers['content-encoding']);
  if (coding instanceof ServiceError) {
    refuseBody(request, reader, coding);
    return;
  }
  wantBody(request);
  if (length !== undefined && length <= SMALL_BYTES && coding === undefined) {
    new SmallBody(request, length, limits.bytes, reader);
  } else reader.onPieces(new OpenBody(request, coding, limits.bytes));
}

/**
 * As most are: small, not encoded, and in one piece. Such a body is no burden, so that it takes no share of a turn, and
 * nobody listens to its connection: of a client that leaves nothing is held. One that comes in pieces is read as any other.
 */
class SmallBody {
  private whole: Buffer = NO_BYTES;

  constructor(
    private readonly request: IncomingMessage,
    private readonly length: number,
    private readonly limitBytes: number,
    private readonly reader: BodyReader,
  ) {
    request.on('data', this.onData).on('end', this.onEnd);
  }

  private readonly onData = (chunk: Buffer): void => {
    if (chunk.length === this.length) {
      this.whole = chunk;
      return;
    }
    const { request } = this;
    request.removeListener('data', this.onData).removeListener('end', this.onEnd);
    const body = new OpenBody(request, undefined, this.limitBytes);
    this.reader.onPieces(body);
    body.give(chunk);
  };

  private readonly onEnd = (): void => {
    this.reader.onWhole(this.whole);
  };
}

const NO_BYTES = Buffer.alloc(0);

/** Answers with an error in place of reading the body, which is thrown away. */
export function refuseBody(request: IncomingMessage, receiver: BodyErrorReceiver, error: ServiceError): void {
  discard(request);
  receiver.onBodyError(error);
}
