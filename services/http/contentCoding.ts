import { describeValue, ServiceError } from '../errors/index.js';
import { piecesOf, type Content } from './content.js';
import { Readable, type Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createGzip, createInflate } from 'node:zlib';

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

/** What decodes a body off the main thread, as it comes. */
export function makeDecoder(coding: ContentCoding): Transform {
  switch (coding) {
    case 'gzip':
      return createGunzip({ chunkSize: CHUNK_BYTES });
    case 'deflate':
      return createInflate({ chunkSize: CHUNK_BYTES });
    case 'br':
      return createBrotliDecompress({ chunkSize: CHUNK_BYTES });
  }
}

export function malformed(coding: ContentCoding, detail: string): ServiceError {
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

/**
 * Compresses an answer off the main thread, piece by piece, for speed more than for size.
 * @param done is told the parts of the result; undefined: it does not work
 */
export function compress(
  content: Content,
  done: (compressed: readonly Uint8Array[] | undefined) => void,
): void {
  const parts: Uint8Array[] = [];
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: CHUNK_BYTES });
  gzip.on('data', (part: Uint8Array) => parts.push(part));
  gzip.on('end', () => done(parts));
  gzip.on('error', () => done(undefined));
  Readable.from(piecesOf(content)).pipe(gzip);
}
