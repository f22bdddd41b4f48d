import type { EventRecord } from './clock.js';
import { NumberTable } from './numberTable.js';

/**
 * A binary heap of events by (time, order). Cancelled events stay in place until they surface: a deadline timer is
 * cancelled far more often than it fires, and removal from the middle would cost more than skipping.
 */
export class EventHeap {
  private readonly records: EventRecord[] = [];
  private readonly live = new NumberTable<EventRecord>();

  get size(): number {
    return this.live.size;
  }

  push(record: EventRecord): void {
    this.live.set(record.order, record);
    this.place(record);
  }

  cancel(order: number): boolean {
    const cancelled = this.live.delete(order) !== undefined;
    // Mostly dead entries would make the heap grow without bound under steady arm-and-cancel.
    if (cancelled && this.records.length > 64 && this.records.length > 4 * this.live.size) this.compact();
    return cancelled;
  }

  peek(): EventRecord | undefined {
    while (this.records.length > 0 && !this.live.has(this.records[0].order)) this.removeTop();
    return this.records[0];
  }

  pop(): EventRecord | undefined {
    while (this.records.length > 0) {
      const top = this.records[0];
      this.removeTop();
      if (this.live.delete(top.order) !== undefined) return top;
    }
    return undefined;
  }

  /** Pending events in the order in which they would run. */
  pending(): EventRecord[] {
    return this.records.filter((record) => this.live.has(record.order)).sort(before);
  }

  dropWhere(unwanted: (record: EventRecord) => boolean): void {
    for (const record of this.records) if (unwanted(record)) this.live.delete(record.order);
    this.compact();
  }

  private compact(): void {
    const kept = this.records.filter((record) => this.live.has(record.order));
    this.records.length = 0;
    for (const record of kept) this.place(record);
  }

  private place(record: EventRecord): void {
    const records = this.records;
    let hole = records.length;
    records.push(record);
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      if (before(records[parent], record) <= 0) break;
      records[hole] = records[parent];
      hole = parent;
    }
    records[hole] = record;
  }

  private removeTop(): void {
    const records = this.records;
    const last = records.pop();
    if (last === undefined || records.length === 0) return;
    const length = records.length;
    let hole = 0;
    for (;;) {
      let child = 2 * hole + 1;
      if (child >= length) break;
      if (child + 1 < length && before(records[child + 1], records[child]) < 0) child += 1;
      if (before(last, records[child]) <= 0) break;
      records[hole] = records[child];
      hole = child;
    }
    records[hole] = last;
  }
}

function before(a: EventRecord, b: EventRecord): number {
  return a.timeNs - b.timeNs || a.order - b.order;
}
