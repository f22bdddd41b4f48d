/** A memory of the last so many queries by their ids, for feedback that names one. */
export class RecentQueries<T extends { readonly id: string }> {
  private readonly byId = new Map<string, T>();
  private readonly ring: (T | undefined)[];
  private next = 0;

  /** @throws RangeError when the capacity is no whole number above 0. */
  constructor(capacity: number) {
    if (!Number.isSafeInteger(capacity) || capacity < 1) {
      throw new RangeError(`the memory of recent queries needs a whole number above 0, not ${capacity}`);
    }
    this.ring = new Array<T | undefined>(capacity).fill(undefined);
  }

  get size(): number {
    return this.byId.size;
  }

  /** Remembers a query in place of the oldest one. A repeated id means the later query. */
  add(query: T): void {
    const oldest = this.ring[this.next];
    if (oldest !== undefined && this.byId.get(oldest.id) === oldest) this.byId.delete(oldest.id);
    this.ring[this.next] = query;
    this.next = this.next + 1 === this.ring.length ? 0 : this.next + 1;
    this.byId.set(query.id, query);
  }

  find(id: string): T | undefined {
    return this.byId.get(id);
  }
}
