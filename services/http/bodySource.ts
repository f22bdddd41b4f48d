import type { IncomingMessage } from 'node:http';
import type { Zlib } from 'node:zlib';
import type { Transform } from 'node:stream';
import { ServiceError } from '../errors/index.js';
import { makeDecoder, malformed, type ContentCoding } from './contentCoding.js';
import { INTAKE, type IntakeSource } from './intake.js';
import { READING, type ReadConnection } from './reading.js';

/**
 * How much of a body that is refused is read and thrown away, so that a client which sends first and reads later still
 * finds the answer and keeps its connection; beyond it the connection is cut.
 */
const DISCARD_BYTES = 16 * 1024 * 1024;

export interface ChunkReceiver {
  /** Decoded; never of no bytes. */
  onChunk(chunk: Buffer): void;
  /** All came. */
  onEnd(): void;
  /** `body_too_large`, `malformed_encoding`; nothing comes any more. */
  onSourceError(error: ServiceError): void;
  /** The client left before the end. */
  onGone(): void;
}

type Decoder = Transform & Zlib;

/** Chunks of encoded bytes are put together to so many before they are decoded: the decoder takes as long for one. */
const DECODED_BYTES = 16 * 1024;

/** A request's body, decoded, as it comes and no faster than the receiver and the process take it. */
export class BodySource implements IntakeSource {
  private readonly connection: ReadConnection;
  private holds = 0;
  private isWaiting = false;
  private isDone = false;
  private sent = 0;
  private decoded = 0;
  private readonly decoder: Decoder | undefined;
  /** Encoded, and not given to the decoder. */
  private encoded: Buffer[] = [];
  private encodedBytes = 0;

  /** @param limitBytes of the body, as it is sent and as it decodes */
  constructor(
    private readonly request: IncomingMessage,
    private readonly coding: ContentCoding | undefined,
    private readonly limitBytes: number,
    private readonly receiver: ChunkReceiver,
  ) {
    this.connection = READING.of(request.socket);
    // Of pipelined requests many listen at once.
    request.socket.setMaxListeners(0).on('close', this.onClose);
    if (coding === undefined) request.on('data', this.onData).on('end', this.onDecoded);
    else {
      this.decoder = makeDecoder(coding) as Decoder;
      this.decoder.on('data', this.onData).on('end', this.onDecoded).on('error', this.onMalformed);
      request.on('data', this.onEncoded).on('end', this.onAllSent);
    }
  }

  /** About how many bytes are still to come. */
  get remaining(): number {
    const length = this.request.headers['content-length'];
    return (
      (length === undefined || this.coding !== undefined ? this.limitBytes : Number(length)) - this.decoded
    );
  }

  /** Nothing more is read until as many calls of `resume`; what was read already, at most some 100 KiB, may still come. */
  pause(): void {
    this.holds += 1;
    if (this.holds === 1) (this.decoder ?? this.connection).pause();
  }

  resume(): void {
    if (this.holds === 0) return;
    this.holds -= 1;
    if (this.holds === 0) (this.decoder ?? this.connection).resume();
  }

  /** Reads no more; what still comes is thrown away. */
  refuse(): void {
    this.end();
    discard(this.request);
  }

  /** A chunk that came before this listened, of a body that is not encoded. */
  take(chunk: Buffer): void {
    this.onData(chunk);
  }

  private end(): void {
    if (this.isDone) return;
    this.isDone = true;
    const { connection, decoder, request } = this;
    INTAKE.forget(connection);
    request.socket.removeListener('close', this.onClose);
    request.removeListener('data', this.onData).removeListener('data', this.onEncoded);
    request.removeListener('end', this.onDecoded).removeListener('end', this.onAllSent);
    if (decoder === undefined) {
      if (this.holds > 0) connection.resume();
    } else {
      INTAKE.forget(this);
      if (this.isWaiting) connection.resume();
      decoder.removeAllListeners('data').removeAllListeners('end');
      decoder.destroy();
    }
    this.holds = 0;
  }

  private fail(error: ServiceError): void {
    this.refuse();
    this.receiver.onSourceError(error);
  }

  private readonly onData = (chunk: Buffer): void => {
    this.decoded += chunk.length;
    if (this.decoded > this.limitBytes) {
      this.fail(tooLarge(this.limitBytes));
      return;
    }
    INTAKE.count(chunk.length, this.decoder === undefined ? this.connection : this);
    this.receiver.onChunk(chunk);
  };

  private readonly onEncoded = (chunk: Buffer): void => {
    this.sent += chunk.length;
    if (this.sent > this.limitBytes) {
      this.fail(tooLarge(this.limitBytes));
      return;
    }
    INTAKE.count(chunk.length, this.connection);
    this.encoded.push(chunk);
    this.encodedBytes += chunk.length;
    if (this.encodedBytes >= DECODED_BYTES) this.decode();
    else if (this.encoded.length === 1) setImmediate(this.decode);
  };

  /** Gives the decoder what has come, and lets no more come where that is much. */
  private readonly decode = (): void => {
    const { decoder, encoded } = this;
    if (decoder === undefined || encoded.length === 0 || this.isDone) return;
    this.encoded = [];
    this.encodedBytes = 0;
    const isTaken = decoder.write(encoded.length === 1 ? encoded[0] : Buffer.concat(encoded));
    if (isTaken || this.isWaiting) return;
    this.isWaiting = true;
    this.connection.pause();
    decoder.once('drain', () => {
      if (this.isDone) return;
      this.isWaiting = false;
      this.connection.resume();
    });
  };

  private readonly onAllSent = (): void => {
    this.decode();
    if (this.sent === 0) this.onDecoded();
    else this.decoder?.end();
  };

  private readonly onDecoded = (): void => {
    const { coding, decoder, sent } = this;
    if (coding !== undefined && decoder !== undefined && sent > decoder.bytesWritten) {
      this.onMalformed(new Error(`${sent - decoder.bytesWritten} bytes follow the end of the data`));
      return;
    }
    this.end();
    this.receiver.onEnd();
  };

  private readonly onMalformed = (error: Error): void => {
    if (!this.isDone && this.coding !== undefined) this.fail(malformed(this.coding, error.message));
  };

  private readonly onClose = (): void => {
    this.end();
    this.receiver.onGone();
  };
}

export function tooLarge(limitBytes: number): ServiceError {
  return new ServiceError('body_too_large', `the body may have at most ${limitBytes} bytes`);
}

/** Throws away what still comes of a body, in turns like all reading. */
export function discard(request: IncomingMessage): void {
  const connection = READING.of(request.socket);
  let bytes = 0;
  const onData = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DISCARD_BYTES) request.socket.destroy();
    else INTAKE.count(chunk.length, connection);
  };
  request.on('data', onData);
  request.once('close', () => INTAKE.forget(connection));
  lingerFor(request);
}

/** How long a client that was refused may go on sending before its connection is cut. */
const LINGER_MS = 10_000;

/**
 * Node closes the connection of a client that wants it closed as soon as the answer is out; what the client still sends
 * would then reset it, and the answer be lost. Only the server's side is closed until the body has come.
 */
function lingerFor(request: IncomingMessage): void {
  const { socket } = request;
  socket.destroySoon = () => {
    if (request.complete) {
      socket.end(() => socket.destroy());
      return;
    }
    socket.end();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    request.once('end', () => socket.destroy());
    socket.once('close', () => clearTimeout(timer));
  };
}
