import { AccessKeys } from '../access/index.js';
import { EventLog } from '../events/index.js';
import { keyVerbs, type KeyAnswer, type NewKeyAnswer } from '../management/index.js';
import { EmbeddedStore } from '../store/index.js';
import { checkStored } from '../storedContent.js';
import type { KeyPlace } from './key.js';

/**
 * Keys in a data directory that no server uses: how the first one is made, and the last resort of whoever has lost all.
 * @throws StoreError `inUse` while a server runs on it, `damaged`
 */
export async function inDataDirectory<T>(
  directory: string,
  act: (keys: KeyPlace) => T | Promise<T>,
): Promise<T> {
  const store = new EmbeddedStore(directory);
  const close = (): Promise<void> => new Promise((resolve) => store.close(resolve));
  try {
    checkStored(store.list(''), `the data directory ${directory}`);
  } catch (error) {
    await close();
    throw error;
  }
  const keys = new AccessKeys(store);
  const nothing = (): void => undefined;
  const events = new EventLog({ store, server: 'offline', announce: nothing, complain: nothing });
  const verbs = new Map(keyVerbs(keys, true).map((verb) => [verb.name, verb]));
  const ask = async (name: string, body: unknown): Promise<unknown> =>
    verbs
      .get(name)
      ?.run(body, new AbortController().signal, (happening) => events.note({ name: 'offline' }, happening));
  try {
    return await act({
      add: (fields) => ask('add_key', fields) as Promise<NewKeyAnswer>,
      list: () => ask('get_all_keys', {}) as Promise<readonly KeyAnswer[]>,
      remove: (id) => ask('delete_key', { id }) as Promise<string>,
    });
  } finally {
    events.close();
    keys.close();
    await close();
  }
}
