import type { Clock, EventSink } from '../../simulator/time/index.js';
import { DeadlineHeap, type HeapItem } from '../batching/index.js';

/** What waits until a deadline at most, behind one timer on the clock. */
export class Deadlines<T extends HeapItem> implements EventSink {
  private readonly heap = new DeadlineHeap<T>();
  private timerNs = Infinity;
  private timer = -1;

  /**
   * @param port its name on the clock.
   * @param onDue told each item whose deadline has come; must remove it.
   */
  constructor(
    private readonly clock: Clock,
    private readonly port: string,
    private readonly onDue: (item: T, nowNs: number) => void,
  ) {
    clock.attach(port, this);
  }

  get size(): number {
    return this.heap.size;
  }

  first(): T | undefined {
    return this.heap.first();
  }

  push(item: T): void {
    this.heap.push(item);
    this.armTimer();
  }

  /** @returns false when it was not there. */
  remove(item: T): boolean {
    return this.heap.remove(item);
  }

  /** Takes everything out. */
  clear(): T[] {
    return this.heap.clear();
  }

  /** Leaves the clock: no deadline is told from now on. */
  close(): void {
    this.clock.detach(this.port);
  }

  onEvent(_kind: string, _payload: unknown, nowNs: number): void {
    this.timerNs = Infinity;
    for (;;) {
      const first = this.heap.first();
      if (first === undefined || first.deadlineNs > nowNs) break;
      this.onDue(first, nowNs);
    }
    this.armTimer();
  }

  private armTimer(): void {
    const first = this.heap.first();
    if (first === undefined || this.timerNs <= first.deadlineNs) return;
    if (this.timerNs !== Infinity) this.clock.cancel(this.timer);
    this.timerNs = first.deadlineNs;
    this.timer = this.clock.schedule(this.port, first.deadlineNs, 'deadline');
  }
}
