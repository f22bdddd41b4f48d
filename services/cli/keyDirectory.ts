import { AccessKeys } from '../access/index.js';
import { KeyAdministration } from '../management/index.js';
import { EmbeddedStore } from '../store/index.js';

/**
 * Keys in a data directory that no server uses: how the first one is made, and the last resort of whoever has lost all.
 * @throws StoreError `inUse` while a server runs on it
 */
export async function inDataDirectory<T>(
  directory: string,
  act: (keys: KeyAdministration) => T | Promise<T>,
): Promise<T> {
  const store = new EmbeddedStore(directory);
  const keys = new AccessKeys(store);
  try {
    return await act(new KeyAdministration(keys, true));
  } finally {
    keys.close();
    await new Promise<void>((resolve) => store.close(resolve));
  }
}
