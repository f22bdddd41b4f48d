/** Something with a deadline that knows its own place in the heap. */
export interface HeapItem {
  deadlineNs: number;
  /** Breaks ties: first come, first served. Set by the heap. */
  order: number;
  /** -1 when in no heap. */
  heapIndex: number;
}

/**
 * A binary heap, earliest deadline first, equal deadlines in order of arrival. Items know their place, so that one
 * can be taken out or moved up without a search. Arrivals mostly come in order of deadline and then cost one comparison.
 */
export class DeadlineHeap<T extends HeapItem> {
  private readonly items: T[] = [];
  private arrivals = 0;

  get size(): number {
    return this.items.length;
  }

  first(): T | undefined {
    return this.items[0];
  }

  push(item: T): void {
    item.order = this.arrivals++;
    this.items.push(item);
    this.rise(item, this.items.length - 1);
  }

  pop(): T | undefined {
    const top = this.items[0];
    if (top !== undefined) this.remove(top);
    return top;
  }

  /** False when the item is not in this heap. */
  remove(item: T): boolean {
    const { items } = this;
    const at = item.heapIndex;
    if (at < 0 || items[at] !== item) return false;
    item.heapIndex = -1;
    const last = items.pop();
    if (last !== undefined && last !== item) {
      this.rise(last, at);
      this.sink(last, last.heapIndex);
    }
    return true;
  }

  /** Moves an item up after its deadline has become earlier. */
  expedite(item: T): void {
    if (item.heapIndex >= 0) this.rise(item, item.heapIndex);
  }

  /** Items that are due before `deadlineNs` or at it. Visits those and their children only. */
  countDueBy(deadlineNs: number, from = 0): number {
    const { items } = this;
    if (from >= items.length || items[from].deadlineNs > deadlineNs) return 0;
    return 1 + this.countDueBy(deadlineNs, 2 * from + 1) + this.countDueBy(deadlineNs, 2 * from + 2);
  }

  /** Takes all items out, in no particular order. */
  clear(): T[] {
    const taken = this.items.splice(0);
    for (const item of taken) item.heapIndex = -1;
    return taken;
  }

  private rise(item: T, from: number): void {
    const { items } = this;
    let hole = from;
    while (hole > 0) {
      const above = (hole - 1) >> 1;
      const parent = items[above];
      if (!before(item, parent)) break;
      items[hole] = parent;
      parent.heapIndex = hole;
      hole = above;
    }
    items[hole] = item;
    item.heapIndex = hole;
  }

  private sink(item: T, from: number): void {
    const { items } = this;
    const length = items.length;
    let hole = from;
    for (;;) {
      let below = 2 * hole + 1;
      if (below >= length) break;
      if (below + 1 < length && before(items[below + 1], items[below])) below += 1;
      const child = items[below];
      if (!before(child, item)) break;
      items[hole] = child;
      child.heapIndex = hole;
      hole = below;
    }
    items[hole] = item;
    item.heapIndex = hole;
  }
}

function before(a: HeapItem, b: HeapItem): boolean {
  return a.deadlineNs < b.deadlineNs || (a.deadlineNs === b.deadlineNs && a.order < b.order);
}
