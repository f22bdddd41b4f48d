import type { Json } from '../../selection/index.js';
import { MarkImage, checkMarks } from './markImage.js';
import type {
  ColdSlice,
  OnceOutcome,
  Store,
  StoreChange,
  StoreFault,
  StoreOutcome,
  Versioned,
} from './store.js';
import { StoreImage } from './storeImage.js';

/** A store that ends with its process: for trials and tests. */
export class MemoryStore implements Store {
  private readonly image = new StoreImage();
  private readonly marks = new MarkImage();

  get(key: string): Versioned | undefined {
    return this.image.get(key);
  }

  list(prefix: string): readonly { readonly key: string; readonly entry: Versioned }[] {
    return this.image.list(prefix);
  }

  /** All is in memory. */
  hold(_key: string, _done: (fault: StoreFault | undefined) => void): boolean {
    return true;
  }

  release(): void {
    // It is kept nowhere else.
  }

  slice(folder: string, _from: string | undefined, done: (slice: ColdSlice) => void): void {
    const entries = this.image
      .list(`${folder}/`)
      .map(({ key, entry: { value, version } }) => ({ key, version, json: JSON.stringify(value) }));
    queueMicrotask(() => done({ ok: true, entries, next: undefined }));
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

  setOnce(
    key: string,
    value: Json | undefined,
    expected: number | 'any',
    marks: readonly string[],
    done?: (outcome: OnceOutcome) => void,
  ): void {
    checkMarks(marks);
    const there = this.marks.there(marks);
    if (there.length > 0) {
      if (done !== undefined) queueMicrotask(() => done({ ok: false, reason: 'marked', marks: there }));
      return;
    }
    // Before watchers hear of it: they may write, too.
    this.marks.add(marks);
    const outcome = this.image.set(key, value, expected);
    if (!outcome.ok) this.marks.remove(marks);
    if (done !== undefined) queueMicrotask(() => done(outcome));
  }

  watch(prefix: string, listener: (change: StoreChange) => void): () => void {
    return this.image.watch(prefix, listener);
  }

  fault(): StoreFault | undefined {
    return undefined;
  }

  staleness(): undefined {
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
