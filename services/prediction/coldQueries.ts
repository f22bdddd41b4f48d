import type { Clock } from '../../simulator/time/index.js';
import type { HeapItem } from '../batching/index.js';
import type { LearnedState } from '../feedback/index.js';
import { Deadlines } from './deadlines.js';
import type { ServedApplication } from './servedApplication.js';
import type { Query } from './types.js';

/** Of a query's time, what it waits at most for its context's state to be read. */
const WAITING_SHARE = 0.25;

class ColdQuery implements HeapItem {
  order = 0;
  heapIndex = -1;

  constructor(
    readonly query: Query,
    readonly application: ServedApplication,
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
  /** Those that wait, by their ids; of a repeated id the later one. */
  private readonly byId = new Map<string, ColdQuery>();

  constructor(
    private readonly clock: Clock,
    port: string,
  ) {
    this.waiting = new Deadlines(clock, port, (query) => this.end(query));
  }

  /** @param go called once, unless the query is cancelled */
  wait(
    query: Query,
    application: ServedApplication,
    state: LearnedState,
    budgetNs: number,
    go: () => void,
  ): void {
    const cold = new ColdQuery(query, application, this.clock.nowNs() + budgetNs * WAITING_SHARE, go);
    if (state.whenRead(() => this.end(cold))) {
      go();
      return;
    }
    this.waiting.push(cold);
    this.byId.set(query.id, cold);
  }

  /** Nobody wants it any longer. @returns undefined: none of this id waits */
  cancel(queryId: string): Pick<ColdQuery, 'query' | 'application'> | undefined {
    const cold = this.byId.get(queryId);
    return cold !== undefined && this.remove(cold) ? cold : undefined;
  }

  /** Nobody waits any longer. */
  close(): void {
    this.byId.clear();
    for (const { go } of this.waiting.clear()) go();
    this.waiting.close();
  }

  private end(cold: ColdQuery): void {
    if (this.remove(cold)) cold.go();
  }

  private remove(cold: ColdQuery): boolean {
    const { id } = cold.query;
    if (this.byId.get(id) === cold) this.byId.delete(id);
    return this.waiting.remove(cold);
  }
}
