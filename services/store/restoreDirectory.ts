import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from '../../simulator/text/index.js';
import { lockDirectory } from './directoryLock.js';
import type { Versioned } from './store.js';
import { StoreError } from './storeError.js';
import { StoreFiles } from './thread/index.js';

/** Made by whoever looks whether a directory is free. */
const HARMLESS = new Set(['lock']);

/** @throws StoreError `notEmpty`, `unusable` */
function requireEmptyDirectory(directory: string): void {
  const found = namesIn(directory).filter((name) => !HARMLESS.has(name));
  if (found.length === 0) return;
  throw new StoreError(
    'notEmpty',
    `the data directory ${directory} is not empty (${found.slice(0, 3).join(', ')}): restore into another one, or remove it`,
  );
}

function namesIn(directory: string): readonly string[] {
  try {
    return existsSync(directory) ? readdirSync(directory) : [];
  } catch (cause) {
    throw new StoreError('unusable', `nothing is restored into ${directory}: ${reasonOf(cause)}`, { cause });
  }
}

/**
 * Puts all entries into a data directory where nothing is, in one: it has all of them or none.
 * @param putFiles writes what else is to be there
 * @throws StoreError `notEmpty`, `inUse`, `unusable`
 */
export async function restoreDirectory(
  directory: string,
  entries: ReadonlyMap<string, Versioned>,
  putFiles?: () => Promise<void>,
): Promise<void> {
  requireEmptyDirectory(directory);
  const unlock = lockDirectory(directory);
  if (unlock === undefined) {
    throw new StoreError('unusable', `the data directory ${directory} is on a file system that is read-only`);
  }
  try {
    await putFiles?.();
    await write(directory, entries);
  } catch (cause) {
    // Nothing was there before.
    for (const name of namesIn(directory).filter((one) => !HARMLESS.has(one)))
      rmSync(join(directory, name), { recursive: true, force: true });
    throw new StoreError('unusable', `nothing is restored into ${directory}: ${reasonOf(cause)}`, { cause });
  } finally {
    unlock();
  }
}

async function write(directory: string, entries: ReadonlyMap<string, Versioned>): Promise<void> {
  const files = new StoreFiles(directory, false);
  try {
    await files.commit([...entries], { made: [], generation: 0, oldest: 0 });
  } finally {
    await files.close();
  }
}
