import type { Clock } from '../../simulator/time/index.js';
import type { HeapItem } from '../batching/index.js';
import type { LearnedState } from '../feedback/index.js';
import { Deadlines } from './deadlines.js';

/** Of a query's time, what it waits at most for its context's state to be read. */
const WAITING_SHARE = 0.25;

class ColdQuery implements HeapItem {
  order = 0;
  heapIndex = -1;

  constructor(
    readonly deadlineNs: number,
    readonly go: () => void,
  ) {}
}

/**
 * Queries whose context's state is being read from the store. What is not there after a quarter of a query's time is not waited for:
 * the query is served as one of a new context, and has three quarters left.
 */
export class ColdQueries {
  private readonly waiting: Deadlines<ColdQuery>;

  constructor(
    private readonly clock: Clock,
    port: string,
  ) {
    this.waiting = new Deadlines(clock, port, (query) => this.end(query));
  }

  /** @param go called once */
  wait(state: LearnedState, budgetNs: number, go: () => void): void {
    const query = new ColdQuery(this.clock.nowNs() + budgetNs * WAITING_SHARE, go);
    if (state.whenRead(() => this.end(query))) {
      go();
      return;
    }
    this.waiting.push(query);
  }

  /** Nobody waits any longer. */
  close(): void {
    for (const query of this.waiting.clear()) query.go();
    this.waiting.close();
  }

  private end(query: ColdQuery): void {
    if (this.waiting.remove(query)) query.go();
  }
}
