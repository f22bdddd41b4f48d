import type { Json } from '../../selection/index.js';
import type { StoreChange, StoreOutcome, Versioned } from './store.js';

type Listener = (change: StoreChange) => void;

/** The memory image of a store: compare-and-set, ordered listing and watching, without any durability. */
export class StoreImage {
  private readonly entries = new Map<string, Versioned>();
  /** Sorted keys, made when they are asked for after a key came or went. */
  private sorted: string[] | undefined;
  private readonly watchers = new Set<{ readonly prefix: string; readonly listener: Listener }>();

  get(key: string): Versioned | undefined {
    return this.entries.get(key);
  }

  list(prefix: string): { readonly key: string; readonly entry: Versioned }[] {
    const keys = (this.sorted ??= [...this.entries.keys()].sort());
    const found: { key: string; entry: Versioned }[] = [];
    for (
      let index = lowerBound(keys, prefix);
      index < keys.length && keys[index].startsWith(prefix);
      index++
    ) {
      const entry = this.entries.get(keys[index]);
      if (entry !== undefined) found.push({ key: keys[index], entry });
    }
    return found;
  }

  /** Puts an entry that was read from disk: no check, no watcher. */
  load(key: string, entry: Versioned): void {
    this.entries.set(key, entry);
    this.sorted = undefined;
  }

  /** It is no longer to be seen here, and still where it is kept: no watcher. */
  forget(key: string): void {
    if (this.entries.delete(key)) this.sorted = undefined;
  }

  /** Compare-and-set; watchers hear of it after it is done. */
  set(key: string, value: Json | undefined, expected: number | 'any'): StoreOutcome {
    const current = this.entries.get(key);
    const currentVersion = current?.version ?? 0;
    if (expected !== 'any' && expected !== currentVersion) return { ok: false, reason: 'conflict', current };
    const version = currentVersion + 1;
    if (value === undefined) {
      if (this.entries.delete(key)) this.sorted = undefined;
      this.tell({ key, value: undefined });
    } else {
      if (current === undefined) this.sorted = undefined;
      const entry = { value, version };
      this.entries.set(key, entry);
      this.tell({ key, value: entry });
    }
    return { ok: true, version };
  }

  /** Puts entries back that were there before (undefined: none was); watchers hear of it once all are. */
  restore(former: ReadonlyMap<string, Versioned | undefined>): void {
    for (const [key, entry] of former) {
      if (entry === undefined) this.entries.delete(key);
      else this.entries.set(key, entry);
    }
    this.sorted = undefined;
    for (const [key, value] of former) this.tell({ key, value });
  }

  watch(prefix: string, listener: Listener): () => void {
    const watcher = { prefix, listener };
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  private tell(change: StoreChange): void {
    for (const { prefix, listener } of [...this.watchers])
      if (change.key.startsWith(prefix)) listener(change);
  }
}

/** Index of the first key that is not before `prefix`. */
function lowerBound(keys: readonly string[], prefix: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keys[middle] < prefix) low = middle + 1;
    else high = middle;
  }
  return low;
}
