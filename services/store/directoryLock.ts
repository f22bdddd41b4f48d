import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { tryLock } from 'fs-native-extensions';
import { makeDirectory } from '../../simulator/files/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { StoreError } from './storeError.js';

/**
 * Keeps a second process out of a data directory: each holds a memory image of it, and would not see the other's writes.
 * The lock is the operating system's, on the open file: it holds across containers that share the directory, whatever
 * they call their processes, and ends with its holder, however that ends. The file stays behind and says nothing.
 * @returns the release; undefined on a file system that is read-only, where nobody can write
 * @throws StoreError `inUse`, `unusable`
 */
export function lockDirectory(directory: string): (() => void) | undefined {
  const path = join(directory, 'lock');
  let file: number;
  try {
    makeDirectory(resolve(directory));
    file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o644);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EROFS') return undefined;
    throw unusable(directory, error);
  }
  let isOurs: boolean;
  try {
    isOurs = tryLock(file);
  } catch (error) {
    closeSync(file);
    throw unusable(directory, error);
  }
  if (!isOurs) {
    closeSync(file);
    throw new StoreError(
      'inUse',
      `the data directory ${directory} is in use by ${holderIn(path)}; stop it or choose another directory`,
    );
  }
  name(file);
  return () => closeSync(file);
}

function unusable(directory: string, error: unknown): StoreError {
  const message = reasonOf(error);
  return new StoreError('unusable', `the data directory ${directory} cannot be used: ${message}`, {
    cause: error,
  });
}

/** Writes down who holds the lock, for the message of whoever comes second. */
function name(file: number): void {
  try {
    ftruncateSync(file, 0);
    writeSync(file, JSON.stringify({ pid: process.pid, host: hostname() }), 0);
  } catch {
    // On a full disk the message of whoever comes second says less.
  }
}

function holderIn(path: string): string {
  try {
    const { pid, host } = JSON.parse(readFileSync(path, 'utf8')) as { pid?: unknown; host?: unknown };
    if (typeof pid !== 'number' || typeof host !== 'string') return 'another process';
    return host === hostname() ? `process ${pid}` : `process ${pid} of ${host}`;
  } catch {
    return 'another process';
  }
}
