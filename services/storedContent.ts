import type { Json } from '../selection/index.js';
import { accessFault } from './access/index.js';
import { eventFault } from './events/index.js';
import { selectionFault } from './feedback/index.js';
import { registryFault } from './registry/index.js';
import { StoreError, storeKey, storeKeyParts, type Versioned } from './store/index.js';

/** Rooms that read what they keep without asking whether it is theirs, by the first part of its key. */
const ROOMS: ReadonlyMap<string, (parts: readonly string[], value: Json) => string | undefined> = new Map([
  ['registry', registryFault],
  ['access', accessFault],
  ['events', eventFault],
  ['selection', selectionFault],
]);

/** What keeps a server from starting with this entry; undefined: nothing does. */
export function storedFault(key: string, value: Json): string | undefined {
  let parts: readonly string[];
  try {
    parts = storeKeyParts(key);
    if (storeKey(...parts) !== key) return 'its key is none that a program writes';
  } catch {
    return 'its key is none that a program writes';
  }
  return ROOMS.get(parts[0])?.(parts, value);
}

/**
 * Before anything is made of what a store holds: files may have been edited, or restored from what was.
 * @param where for people
 * @throws StoreError `damaged`
 */
export function checkStored(
  entries: readonly { readonly key: string; readonly entry: Versioned }[],
  where: string,
): void {
  for (const { key, entry } of entries) {
    const fault = storedFault(key, entry.value);
    if (fault === undefined) continue;
    throw new StoreError(
      'damaged',
      `${where} cannot be read: ${key} is not as servers write it (${fault}): restore a whole backup into another place, or use the version that wrote it`,
    );
  }
}
