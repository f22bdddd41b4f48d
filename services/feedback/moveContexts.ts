import { coldKey, storeKey, storeKeyParts, type Store } from '../store/index.js';
import { stateFolder } from './contextFolder.js';
import { kept, opened } from './keptForm.js';

/** Contexts as programs kept them that held all in memory, to where they are kept now. Their earlier versions stay behind. */
export function moveContexts(store: Store, application: string, today: number): void {
  const old = store.list(`${storeKey('selection', application, 'context')}/`);
  for (const { key, entry } of old) {
    const context = storeKeyParts(key).at(-1) ?? '';
    const used = store.get(storeKey('selection', application, 'used', context))?.value as
      { readonly day: number; readonly count: number } | undefined;
    const { state, isPinned } = opened(entry.value);
    const use = { day: used?.day ?? today, count: used?.count ?? 1 };
    store.set(coldKey(stateFolder(application), context), kept(state, isPinned, use), 'any');
    store.set(key, undefined, 'any');
  }
  if (old.length === 0) return;
  for (const kind of ['used', 'pastOf']) {
    for (const { key } of store.list(`${storeKey('selection', application, kind)}/`))
      store.set(key, undefined, 'any');
  }
}
