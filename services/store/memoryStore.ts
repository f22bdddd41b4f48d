import type { Json } from '../../selection/index.js';
import type { LogEntry, Store, StoreChange, StoreOutcome, Versioned } from './store.js';
import { StoreImage } from './storeImage.js';

/** A store that ends with its process: for trials and tests. */
export class MemoryStore implements Store {
  private readonly image = new StoreImage();
  private readonly logs = new Map<string, LogEntry[]>();

  get(key: string): Versioned | undefined {
    return this.image.get(key);
  }

  list(prefix: string): readonly { readonly key: string; readonly entry: Versioned }[] {
    return this.image.list(prefix);
  }

  set(
    key: string,
    value: Json | undefined,
    expected: number | 'any',
    done?: (outcome: StoreOutcome) => void,
  ): void {
    const outcome = this.image.set(key, value, expected);
    if (done !== undefined) queueMicrotask(() => done(outcome));
  }

  watch(prefix: string, listener: (change: StoreChange) => void): () => void {
    return this.image.watch(prefix, listener);
  }

  append(log: string, value: Json, done?: (outcome: StoreOutcome) => void): void {
    const entries = this.logs.get(log) ?? [];
    this.logs.set(log, entries);
    const sequence = entries.length + 1;
    entries.push({ sequence, value });
    if (done !== undefined) queueMicrotask(() => done({ ok: true, version: sequence }));
  }

  read(log: string, afterSequence: number, limit: number): readonly LogEntry[] {
    return (this.logs.get(log) ?? []).slice(afterSequence, afterSequence + limit);
  }

  flush(done: () => void): void {
    queueMicrotask(done);
  }

  close(done: () => void): void {
    queueMicrotask(done);
  }
}
