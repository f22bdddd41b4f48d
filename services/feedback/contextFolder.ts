import {
  coldFolder,
  storeKey,
  storeKeyParts,
  type ColdEntry,
  type Store,
  type StoreFault,
} from '../store/index.js';

/** Where the states of an application's contexts are kept. */
export function stateFolder(application: string): string {
  return coldFolder('selection', application, 'state');
}

/** Where earlier versions of them are. */
export function pastFolder(application: string): string {
  return coldFolder('selection', application, 'past');
}

/** All that is kept of an application's contexts. */
export function contextFolders(application: string): readonly string[] {
  return [stateFolder(application), pastFolder(application)];
}

/** The context that a key of these folders is of. */
export function contextOf(key: string): string {
  return storeKeyParts(key).at(-1) ?? '';
}

/** Goes through a folder in slices; what `act` writes is durable, or refused, before the next one is read. */
export function eachEntry(
  store: Store,
  folder: string,
  act: (entry: ColdEntry) => void,
  done: (fault: StoreFault | undefined) => void,
): void {
  const step = (from: string | undefined): void => {
    store.slice(folder, from, (slice) => {
      if (!slice.ok) {
        done(slice);
        return;
      }
      for (const entry of slice.entries) act(entry);
      const { next } = slice;
      store.flush(() => (next === undefined ? done(store.fault()) : step(next)));
    });
  };
  step(undefined);
}

/** There as long as contexts of an application are being forgotten that was deleted: nobody reads one meanwhile. */
export function erasingKey(application: string): string {
  return storeKey('selection', application, 'erasing');
}

/**
 * Removes all contexts of an application as they are now, and then the note that says so; one that is learned from meanwhile
 * stays: its version is another.
 */
export function eraseContexts(store: Store, application: string, done: () => void): void {
  const remove = ({ key, version }: ColdEntry): void => {
    store.set(key, undefined, version);
  };
  eachEntry(store, stateFolder(application), remove, (fault) => {
    if (fault !== undefined) {
      done();
      return;
    }
    eachEntry(store, pastFolder(application), remove, (alsoFault) => {
      const key = erasingKey(application);
      if (alsoFault === undefined && store.get(key) !== undefined) store.set(key, undefined, 'any');
      done();
    });
  });
}
