import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { fileStamp } from '../../simulator/files/index.js';

/** A file, and what it is called in the hash. */
export interface NamedFile {
  readonly name: string;
  readonly path: string;
}

export interface Content {
  /** SHA-256, hexadecimal, over names and contents. */
  readonly hash: string;
  /** Which files those are, and when they last changed: the same before and behind something that reads them, it has read these. */
  readonly stamp: string;
}

/** Files as they were last read: a replica that starts again costs a look at each and no more. */
const known = new Map<string, Content>();
const MOST_KNOWN = 1024;

/** File systems date a change by clocks that tick: what changed this short a time ago may change again without another date. */
const SETTLED_AFTER_MS = 2000;

const PIECE_BYTES = 1 << 20;

/** The hash of a content, built up file by file, wherever their bytes come from. */
export class ContentSum {
  private readonly sum = createHash('sha256');

  /** The next file begins. Its length keeps what belongs to it apart from the next one. */
  file(name: string, size: number): void {
    this.sum.update(`${name}\0${size}\0`);
  }

  bytes(piece: Uint8Array): void {
    this.sum.update(piece);
  }

  /** SHA-256, hexadecimal. */
  hash(): string {
    return this.sum.digest('hex');
  }
}

/** @throws Error naming the file that cannot be read, is none (a pipe, a device), or changes while it is read */
export function contentOf(files: readonly NamedFile[]): Content {
  const place = files.map(({ name, path }) => `${name}\0${path}`).join('\0\0');
  const before = files.map(stampOf);
  const stamp = before.map(({ text }) => text).join('\0');
  const found = known.get(place);
  if (found?.stamp === stamp) return found;
  const sum = new ContentSum();
  for (const file of files) add(sum, file);
  const content = { hash: sum.hash(), stamp };
  const settledBeforeMs = Date.now() - SETTLED_AFTER_MS;
  known.delete(place);
  if (before.every(({ changedMs }) => changedMs < settledBeforeMs)) {
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(place, content);
  }
  return content;
}

function stampOf({ path }: NamedFile): { readonly text: string; readonly changedMs: number } {
  const found = statSync(path, { bigint: true });
  if (!found.isFile()) throw new Error(`${path}: not a file`);
  return { text: fileStamp(found), changedMs: Number(found.ctimeNs / 1_000_000n) };
}

/**
 * The bytes of a file, from its begin to its end. Each piece is overwritten by the next.
 * @throws Error when it is not `size` bytes long while it is read
 */
export function* filePieces(path: string, size: number): Generator<Uint8Array> {
  const file = openSync(path, 'r');
  try {
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size + 1));
    let read = 0;
    for (let bytes = -1; bytes !== 0; read += bytes) {
      bytes = readSync(file, piece);
      if (bytes > 0) yield piece.subarray(0, bytes);
    }
    if (read !== size) throw new Error(`${path}: it changes while it is read`);
  } finally {
    closeSync(file);
  }
}

function add(sum: ContentSum, { name, path }: NamedFile): void {
  const { size } = statSync(path);
  sum.file(name, size);
  for (const piece of filePieces(path, size)) sum.bytes(piece);
}
