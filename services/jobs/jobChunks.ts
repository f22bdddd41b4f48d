import { z } from 'zod';
import { CHUNK_BYTES, CHUNK_LINES, MOST_LINE_BYTES, type JobChunk } from './job.js';
import { JobError } from './jobError.js';
import { ServiceError } from '../errors/index.js';

const NEWLINE = 10;

/**
 * Lines of text as chunks.
 * @throws ServiceError (as a rejection) `not_utf8`, `body_too_large` naming the line
 */
export async function* jobChunks(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<JobChunk> {
  const chunk = new ChunkInMaking();
  let parts: Uint8Array[] = [];
  let held = 0;
  for await (const piece of pieces) {
    let start = 0;
    for (;;) {
      const end = piece.indexOf(NEWLINE, start);
      if (end < 0) break;
      parts.push(piece.subarray(start, end));
      const full = chunk.add(Buffer.concat(parts));
      if (full !== undefined) yield full;
      parts = [];
      held = 0;
      start = end + 1;
    }
    // A copy: the piece belongs to whoever reads the socket.
    parts.push(Uint8Array.prototype.slice.call(piece, start));
    held += piece.length - start;
    if (held > MOST_LINE_BYTES) throw tooLong(chunk.nextLine);
  }
  if (held > 0) {
    const full = chunk.add(Buffer.concat(parts));
    if (full !== undefined) yield full;
  }
  const rest = chunk.take();
  if (rest !== undefined) yield rest;
}

class ChunkInMaking {
  nextLine = 1;
  private firstLine = 1;
  private lines: string[] = [];
  private bytes = 0;
  private asking = 0;

  /** @returns the chunk, where it is full */
  add(line: Uint8Array): JobChunk | undefined {
    if (line.length > MOST_LINE_BYTES) throw tooLong(this.nextLine);
    const text = this.textOf(line);
    this.nextLine += 1;
    this.lines.push(text);
    this.bytes += line.length;
    if (text !== '') this.asking += 1;
    const isFull =
      this.asking >= CHUNK_LINES || this.bytes >= CHUNK_BYTES || this.lines.length >= 64 * CHUNK_LINES;
    return isFull ? this.take() : undefined;
  }

  /** What there is, unless all of it is blank. */
  take(): JobChunk | undefined {
    const { firstLine, lines, asking } = this;
    this.firstLine = this.nextLine;
    this.lines = [];
    this.bytes = 0;
    this.asking = 0;
    return asking === 0 ? undefined : { firstLine, lines };
  }

  private textOf(line: Uint8Array): string {
    try {
      // A byte order mark is no part of the first line, and of no other can it be one.
      const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: this.nextLine > 1 }).decode(line);
      return text.trim() === '' ? '' : text;
    } catch {
      throw new ServiceError('not_utf8', `line ${this.nextLine} is no valid UTF-8`);
    }
  }
}

function tooLong(line: number): ServiceError {
  return new ServiceError(
    'body_too_large',
    `line ${line} is longer than ${MOST_LINE_BYTES / 2 ** 20} MiB, the most that one query may have`,
  );
}

/** How many lines ask for something. */
export function askingLines({ lines }: JobChunk): number {
  return lines.reduce((count, line) => (line === '' ? count : count + 1), 0);
}

const chunkSchema = z.object({ firstLine: z.int().positive(), lines: z.array(z.string()) });

/** A chunk as a ledger has kept it, as JSON. @throws JobError `unusable` where something else is there */
export function chunkOf(id: string, index: number, text: string): JobChunk {
  try {
    return chunkSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new JobError('unusable', `chunk ${index} of the input of job '${id}' is damaged: remove the job`, {
      cause,
    });
  }
}
