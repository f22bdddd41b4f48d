import { existsSync, readdirSync } from 'node:fs';
import { lockDirectory } from './directoryLock.js';
import type { Versioned } from './store.js';
import { StoreError } from './storeError.js';
import { StoreFiles } from './thread/index.js';

/** Made by whoever looks whether a directory is free. */
const HARMLESS = new Set(['lock']);

/** @throws StoreError `notEmpty` */
function requireEmptyDirectory(directory: string): void {
  const found = existsSync(directory) ? readdirSync(directory).filter((name) => !HARMLESS.has(name)) : [];
  if (found.length === 0) return;
  throw new StoreError(
    'notEmpty',
    `the data directory ${directory} is not empty (${found.slice(0, 3).join(', ')}): restore into another one, or remove it`,
  );
}

/**
 * Puts all entries into a data directory where nothing is, in one: it has all of them or none.
 * @throws StoreError `notEmpty`, `inUse`, `unusable`
 */
export async function restoreDirectory(
  directory: string,
  entries: ReadonlyMap<string, Versioned>,
): Promise<void> {
  requireEmptyDirectory(directory);
  const unlock = lockDirectory(directory);
  try {
    const files = new StoreFiles(directory, false);
    await files.commit([...entries], { made: [], generation: 0, oldest: 0 });
    await files.close();
  } finally {
    unlock?.();
  }
}
