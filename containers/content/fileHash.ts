import { createHash, type Hash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
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

/** @throws Error naming the file that cannot be read, is none (a pipe, a device), or changes while it is read */
export function contentOf(files: readonly NamedFile[]): Content {
  const place = files.map(({ name, path }) => `${name}\0${path}`).join('\0\0');
  const before = files.map(stampOf);
  const stamp = before.map(({ text }) => text).join('\0');
  const found = known.get(place);
  if (found?.stamp === stamp) return found;
  const sum = createHash('sha256');
  for (const file of files) add(sum, file);
  const content = { hash: sum.digest('hex'), stamp };
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

function add(sum: Hash, { name, path }: NamedFile): void {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    // The length keeps what belongs to one file apart from the next.
    sum.update(`${name}\0${size}\0`);
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size + 1));
    let read = 0;
    for (let bytes = -1; bytes !== 0; read += bytes) {
      bytes = readSync(file, piece);
      sum.update(piece.subarray(0, bytes));
    }
    if (read !== size) throw new Error(`${path}: it changes while it is read`);
  } finally {
    closeSync(file);
  }
}
