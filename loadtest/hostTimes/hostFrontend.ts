import type { HostDraws } from './hostDraws.js';
import { HostThread } from './hostThread.js';

/** A query's way through the host's frontend. */
export interface QueryWay {
  readonly reachesNs: number;
  /** From its answer until that has come back. */
  readonly backNs: number;
  /** What reading it takes there. */
  readonly readNs: number;
}

/**
 * The frontend of a host. Ways are in order: who comes while a thread wakes up for another waits for that too, and so is with it in a batch.
 */
export class HostFrontend<Q extends { readonly bytes: number }> {
  /** Reads queries and results, in the order in which they come. */
  readonly thread = new HostThread();
  /** Those of the load test, which sends queries and reads answers; that it does one while the other waits is left out. */
  private readonly sender = new HostThread();
  private readonly reader = new HostThread();
  private waiting: Q[] = [];
  private isReading = false;
  private arrivedNs = -Infinity;
  private reachedNs = -Infinity;
  private backNs = -Infinity;

  constructor(readonly draws: HostDraws) {}

  /** A query of so many bytes is sent now. */
  send(query: string, bytes: number, nowNs: number): QueryWay {
    const wayNs = this.draws.wayNs(query, bytes, nowNs - this.arrivedNs);
    this.arrivedNs = nowNs;
    const clientNs = this.draws.clientNs(bytes) / 2;
    this.reachedNs = Math.max(this.reachedNs, this.sender.take(nowNs, () => clientNs) + wayNs / 2);
    return { reachesNs: this.reachedNs, backNs: wayNs / 2, readNs: clientNs };
  }

  /**
   * It has reached the frontend now.
   * @returns whether a turn is to begin, once all that reach it at this moment have: none is on
   */
  reach(query: Q): boolean {
    this.waiting.push(query);
    if (this.isReading) return false;
    this.isReading = true;
    return true;
  }

  /** A turn of its event loop begins: what waits now is read in it, one after the other, and goes on at its end. */
  turn(nowNs: number): { readonly queries: readonly Q[]; readonly endNs: number } {
    const queries = this.waiting;
    this.waiting = [];
    const endNs = this.thread.take(nowNs, () =>
      queries.reduce((sum, { bytes }) => sum + this.draws.queryNs(bytes), 0),
    );
    return { queries, endNs };
  }

  /** The turn is over. @returns whether another is to begin */
  endTurn(): boolean {
    this.isReading = this.waiting.length > 0;
    return this.isReading;
  }

  /** It is answered now. @returns when whoever asked has read that */
  answer({ backNs, readNs }: QueryWay, nowNs: number): number {
    this.backNs = Math.max(this.backNs, nowNs + backNs);
    return this.reader.take(this.backNs, () => readNs);
  }
}
