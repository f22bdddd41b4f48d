import { randomBytes } from 'node:crypto';
import type { EmbeddedOptions } from './embeddedOptions.js';
import { checkStored } from './storedContent.js';
import { EmbeddedStore, lockDirectory, MemoryStore, type SharedStore, type Store } from './store/index.js';

export interface Stores {
  /** Who this process is: ids of an earlier one, or of another that shares the store, must not name queries of this one. */
  readonly frontend: string;
  readonly store: Store;
  /** The same, where it is shared. */
  readonly shared?: SharedStore;
  /** Of the data directory, which a store of its own would hold. */
  readonly unlock?: (() => void) | undefined;
}

/** @throws StoreError, RedisError */
export async function openStores(options: EmbeddedOptions): Promise<Stores> {
  const stores = await opened(options);
  const { dataDirectory } = options;
  const where =
    stores.shared !== undefined || dataDirectory === undefined
      ? 'the store that servers share'
      : `the data directory ${dataDirectory}`;
  try {
    checkStored(stores.store.list(''), where);
  } catch (error) {
    await closed(stores);
    throw error;
  }
  return stores;
}

async function opened({ dataDirectory, openSharedStore }: EmbeddedOptions): Promise<Stores> {
  const frontend = randomBytes(6).toString('base64url');
  if (openSharedStore === undefined) {
    return {
      frontend,
      store: dataDirectory === undefined ? new MemoryStore() : new EmbeddedStore(dataDirectory),
    };
  }
  const unlock = dataDirectory === undefined ? undefined : lockDirectory(dataDirectory);
  try {
    const shared = await openSharedStore();
    return { frontend, store: shared, shared, unlock };
  } catch (error) {
    unlock?.();
    throw error;
  }
}

export async function closed({ store, unlock }: Stores): Promise<void> {
  await new Promise<void>((resolve) => store.close(resolve));
  unlock?.();
}
