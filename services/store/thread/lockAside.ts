import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { join, resolve } from 'node:path';

/** A file system in memory. */
const IN_MEMORY = '/dev/shm';

/** More than LMDB's table of readers takes. */
const LOCK_FILE_BYTES = 16_384;
/** More than LMDB and its first tables take. */
const FIRST_BYTES = 65_536;

export const DATA_FILE = 'data.mdb';
const LOCK_FILE = 'lock.mdb';

/**
 * Opens LMDB's files with its lock file in memory, where there is room for it: LMDB maps that file into memory and writes
 * to it, and a page that the disk then takes no longer (read-only after an error, say) would end the process by a signal.
 * Other processes are kept out by the directory's own lock. Names that lead to open files are needed no more.
 * @param folder of the data
 */
export function openedAside<T>(folder: string, isReadOnly: boolean, open: (path: string) => T): T {
  const data = join(folder, DATA_FILE);
  if (existsSync(data)) tryOpen(data, isReadOnly);
  else if (!isReadOnly) tryRoom(folder);
  const aside = isReadOnly ? undefined : asideOf(folder);
  if (aside === undefined) {
    if (!isReadOnly) reserve(folder);
    return open(folder);
  }
  try {
    return open(aside);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/** A folder in memory with a link to the data, and a lock file whose pages are all there. */
function asideOf(folder: string): string | undefined {
  mkdirSync(folder, { recursive: true });
  let aside: string | undefined;
  try {
    aside = mkdtempSync(join(IN_MEMORY, 'windjammer-store-'));
    reserve(aside);
    symlinkSync(join(resolve(folder), DATA_FILE), join(aside, DATA_FILE));
    return aside;
  } catch {
    // No such file system, or it is full.
    if (aside !== undefined) rmSync(aside, { recursive: true, force: true });
    return undefined;
  }
}

/** What LMDB cannot open it reads again after it was freed. @throws Error of the system */
function tryOpen(file: string, isReadOnly: boolean): void {
  closeSync(openSync(file, isReadOnly ? 'r' : 'r+'));
}

/** LMDB does not outlive a beginning for which there is no room. @throws Error of the system */
function tryRoom(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'trial');
  try {
    write(file, FIRST_BYTES);
  } finally {
    rmSync(file, { force: true });
  }
}

/** Takes the room that the lock file needs. */
function reserve(folder: string): void {
  const file = join(folder, LOCK_FILE);
  if (!existsSync(file)) write(file, LOCK_FILE_BYTES);
}

function write(file: string, bytes: number): void {
  const handle = openSync(file, 'w');
  try {
    // The system takes what it has room for, and says at the next write why not more.
    for (let written = 0; written < bytes;) written += writeSync(handle, Buffer.alloc(bytes - written));
  } finally {
    closeSync(handle);
  }
}
