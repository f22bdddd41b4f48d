import type { CacheEntry } from './cacheEntry.js';

/**
 * CLOCK's ring, linked through the entries. The hand points at the next entry to judge; a new one goes in right
 * behind the hand, so that it is judged last:
 *
 *     … ─ newest ─ [hand] oldest ─ next oldest ─ …
 */
export class ClockRing<W> {
  private hand: CacheEntry<W> | undefined;
  private count = 0;

  get size(): number {
    return this.count;
  }

  add(entry: CacheEntry<W>): void {
    this.count += 1;
    const hand = this.hand;
    if (hand === undefined) {
      entry.ringNext = entry;
      entry.ringBefore = entry;
      this.hand = entry;
      return;
    }
    const before = hand.ringBefore ?? hand;
    entry.ringNext = hand;
    entry.ringBefore = before;
    before.ringNext = entry;
    hand.ringBefore = entry;
  }

  remove(entry: CacheEntry<W>): void {
    this.count -= 1;
    const { ringNext: next, ringBefore: before } = entry;
    entry.ringNext = undefined;
    entry.ringBefore = undefined;
    if (next === undefined || before === undefined || next === entry) {
      this.hand = undefined;
      return;
    }
    before.ringNext = next;
    next.ringBefore = before;
    if (this.hand === entry) this.hand = next;
  }

  /** The first entry that was not used since the hand came by last; those it passes lose their mark. */
  victim(): CacheEntry<W> | undefined {
    while (this.hand !== undefined && this.hand.referenced) {
      this.hand.referenced = false;
      this.hand = this.hand.ringNext;
    }
    return this.hand;
  }

  /** Entries from the hand on. */
  list(): CacheEntry<W>[] {
    const entries: CacheEntry<W>[] = [];
    let entry = this.hand;
    while (entry !== undefined && entries.length < this.count) {
      entries.push(entry);
      entry = entry.ringNext;
    }
    return entries;
  }
}
