import type { Json } from '../../selection/index.js';
import type { Store, StoreChange, StoreOutcome, Versioned } from './store.js';
import { StoreImage } from './storeImage.js';

/** A store that ends with its process: for trials and tests. */
export class MemoryStore implements Store {
  private readonly image = new StoreImage();

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

  fault(): undefined {
    return undefined;
  }

  watchFault(): () => void {
    return () => undefined;
  }

  flush(done: () => void): void {
    queueMicrotask(done);
  }

  close(done: () => void): void {
    queueMicrotask(done);
  }
}
