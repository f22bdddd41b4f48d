import type { CacheEntry } from './cacheEntry.js';
import { sameBytes } from './inputHash.js';

const SMALLEST = 1024;

/**
 * A hash table of entries, chained through the entries themselves, that doubles and halves with its load. Its hashes are
 * keyed, so that no client can make a chain long.
 */
export class EntryTable<W> {
  private buckets: (CacheEntry<W> | undefined)[] = new Array<CacheEntry<W> | undefined>(SMALLEST).fill(
    undefined,
  );
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** The entry of exactly this model and these bytes. */
  find(model: number, input: Uint8Array, hash: number): CacheEntry<W> | undefined {
    let entry = this.buckets[hash & (this.buckets.length - 1)];
    while (entry !== undefined) {
      if (entry.hash === hash && entry.model === model && sameBytes(entry.input, input)) return entry;
      entry = entry.nextInBucket;
    }
    return undefined;
  }

  add(entry: CacheEntry<W>): void {
    if (this.count >= this.buckets.length) this.resize(this.buckets.length * 2);
    this.link(entry);
    this.count += 1;
  }

  remove(entry: CacheEntry<W>): void {
    const bucket = entry.hash & (this.buckets.length - 1);
    let before: CacheEntry<W> | undefined;
    let at = this.buckets[bucket];
    while (at !== undefined && at !== entry) {
      before = at;
      at = at.nextInBucket;
    }
    if (at === undefined) return;
    if (before === undefined) this.buckets[bucket] = entry.nextInBucket;
    else before.nextInBucket = entry.nextInBucket;
    entry.nextInBucket = undefined;
    this.count -= 1;
    if (this.buckets.length > SMALLEST && this.count < this.buckets.length >> 3) {
      this.resize(this.buckets.length >> 1);
    }
  }

  private link(entry: CacheEntry<W>): void {
    const bucket = entry.hash & (this.buckets.length - 1);
    entry.nextInBucket = this.buckets[bucket];
    this.buckets[bucket] = entry;
  }

  private resize(length: number): void {
    const old = this.buckets;
    this.buckets = new Array<CacheEntry<W> | undefined>(length).fill(undefined);
    for (let entry of old) {
      while (entry !== undefined) {
        const next: CacheEntry<W> | undefined = entry.nextInBucket;
        this.link(entry);
        entry = next;
      }
    }
  }
}
