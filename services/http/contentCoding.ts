import { describeValue, ServiceError } from '../errors/index.js';
import { brotliDecompress, constants, gunzip, gzip, inflate, type InputType } from 'node:zlib';

/** Content codings that a request may have; `deflate` is the zlib format (RFC 9110, 8.4.1.2). */
export const CONTENT_CODINGS = ['gzip', 'deflate', 'br'] as const;
export type ContentCoding = (typeof CONTENT_CODINGS)[number];

/** Inflated in pieces of this size: what a bomb can take beyond the limit. */
const CHUNK_BYTES = 64 * 1024;

/** The coding that a Content-Encoding header names; undefined: none. An error for any but one known coding. */
export function readContentCoding(header: string | undefined): ContentCoding | ServiceError | undefined {
  if (header === undefined) return undefined;
  const name = header.trim().toLowerCase();
  if (name === 'identity') return undefined;
  const coding = name === 'x-gzip' ? 'gzip' : CONTENT_CODINGS.find((known) => known === name);
  if (coding !== undefined) return coding;
  return new ServiceError(
    'unsupported_media_type',
    `the Content-Encoding must be gzip, deflate or br, ${describeValue(header)} came`,
    'Content-Encoding',
  );
}

type Decoded = (error: ServiceError | undefined, body: Buffer) => void;

/** With `info` Node's callbacks give the engine too, which its types do not say. */
interface Inflation {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

type Inflate = (
  body: InputType,
  options: { chunkSize: number; maxOutputLength: number; info: boolean },
  done: (error: NodeJS.ErrnoException | null, result: unknown) => void,
) => void;

const INFLATERS: Readonly<Record<ContentCoding, Inflate>> = {
  gzip: gunzip,
  deflate: inflate,
  br: brotliDecompress,
};

/**
 * Decodes a whole body off the main thread; it stops as soon as the result has more than `limitBytes`. Bytes behind
 * the end of the coded data are an error: what they would say is lost otherwise.
 */
export function decodeContent(
  coding: ContentCoding,
  body: Buffer,
  limitBytes: number,
  overLimit: () => ServiceError,
  done: Decoded,
): void {
  const options = { chunkSize: CHUNK_BYTES, maxOutputLength: limitBytes, info: true };
  INFLATERS[coding](body, options, (error, result) => {
    if (error !== null) {
      const isOver = error.code === 'ERR_BUFFER_TOO_LARGE';
      done(isOver ? overLimit() : malformed(coding, error.message), EMPTY);
      return;
    }
    const { buffer, engine } = result as Inflation;
    if (engine.bytesWritten !== body.length) {
      const extra = body.length - engine.bytesWritten;
      done(malformed(coding, `${extra} bytes follow the end of the data`), EMPTY);
    } else done(undefined, buffer);
  });
}

const EMPTY = Buffer.alloc(0);

function malformed(coding: ContentCoding, detail: string): ServiceError {
  return new ServiceError(
    'malformed_encoding',
    `the body does not decode as ${coding}: ${detail}`,
    'Content-Encoding',
  );
}

/** From this size on an answer is compressed for clients that take gzip; smaller ones would gain no packet worth it. */
export const COMPRESS_FROM_BYTES = 16 * 1024;

/** Whether an Accept-Encoding header allows gzip (RFC 9110, 12.5.3). Without the header nothing is encoded. */
export function acceptsGzip(header: string | undefined): boolean {
  if (header === undefined) return false;
  let wildcard = false;
  for (const part of header.toLowerCase().split(',')) {
    const [coding, ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    const allowed = weight === undefined || Number(weight.slice(2)) > 0;
    if (coding === 'gzip' || coding === 'x-gzip') return allowed;
    if (coding === '*') wildcard = allowed;
  }
  return wildcard;
}

/** Compresses an answer off the main thread, for speed more than for size. */
export function compress(content: string | Uint8Array, done: (compressed: Buffer | undefined) => void): void {
  gzip(content, { level: constants.Z_BEST_SPEED }, (error, compressed) =>
    done(error ? undefined : compressed),
  );
}
