import type { CacheEntry } from './cacheEntry.js';
import { sameBytes } from './inputHash.js';

const SMALLEST = 1024;

/** Buckets that one removal may give back: the table is to follow what it holds, at an eighth of its load. */
const MERGED = 8;

/**
 * A hash table of entries, chained through the entries themselves, by linear hashing: it grows and shrinks a bucket at a
 * time, so that no query waits for all entries to be linked anew. Its hashes are keyed, so that no client can make a chain
 * long.
 */
export class EntryTable<W> {
  private readonly buckets: (CacheEntry<W> | undefined)[] = [];
  /** All of a power of two of buckets, of which the last are still together with those half as far. */
  private mask = SMALLEST - 1;
  private count = 0;

  constructor() {
    for (let at = 0; at < SMALLEST; at++) this.buckets.push(undefined);
  }

  get size(): number {
    return this.count;
  }

  /** The entry of exactly this model and these bytes. */
  find(model: number, input: Uint8Array, hash: number): CacheEntry<W> | undefined {
    let entry = this.buckets[this.bucketOf(hash)];
    while (entry !== undefined) {
      if (entry.hash === hash && entry.model === model && sameBytes(entry.input, input)) return entry;
      entry = entry.nextInBucket;
    }
    return undefined;
  }

  add(entry: CacheEntry<W>): void {
    if (this.count >= this.buckets.length) this.split();
    this.link(entry);
    this.count += 1;
  }

  remove(entry: CacheEntry<W>): void {
    const bucket = this.bucketOf(entry.hash);
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
    for (let at = 0; at < MERGED && this.isSparse; at++) this.merge();
  }

  private link(entry: CacheEntry<W>): void {
    const bucket = this.bucketOf(entry.hash);
    entry.nextInBucket = this.buckets[bucket];
    this.buckets[bucket] = entry;
  }

  private get isSparse(): boolean {
    return this.buckets.length > SMALLEST && this.count < this.buckets.length >> 3;
  }

  private bucketOf(hash: number): number {
    const bucket = hash & this.mask;
    return bucket < this.buckets.length ? bucket : bucket & (this.mask >> 1);
  }

  /** One bucket more, which takes its part of the one that it was together with. */
  private split(): void {
    const { buckets } = this;
    if (buckets.length > this.mask) this.mask = 2 * this.mask + 1;
    const divided = buckets.length & (this.mask >> 1);
    const entry = buckets[divided];
    buckets[divided] = undefined;
    buckets.push(undefined);
    this.linkAll(entry);
  }

  private merge(): void {
    const { buckets } = this;
    const entry = buckets.pop();
    if (buckets.length <= this.mask >> 1) this.mask >>= 1;
    this.linkAll(entry);
  }

  private linkAll(first: CacheEntry<W> | undefined): void {
    let entry = first;
    while (entry !== undefined) {
      const next: CacheEntry<W> | undefined = entry.nextInBucket;
      this.link(entry);
      entry = next;
    }
  }
}
