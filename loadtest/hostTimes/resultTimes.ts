import type { PredictFrame, ResultFrame } from '../../containers/protocol/index.js';
import type { HostThread } from './hostThread.js';

/** When results of a container leave it on a host, and what the container says that they took. */
export interface ResultTimes {
  /** A batch is sent now. */
  sent(frame: PredictFrame, nowNs: number): void;
  /** Its result is there now, in the container's own time. @returns undefined: the host has nothing to add */
  done(frame: ResultFrame, nowNs: number): { readonly atNs: number; readonly serviceNs: number } | undefined;
}

/** Of a kernel model: what a card would answer in microseconds comes when the node's thread, which computes it, is done. */
export class ComputedResults implements ResultTimes {
  /** By batch: when the thread begins it, and is done. */
  private readonly batches = new Map<number, { readonly fromNs: number; readonly doneNs: number }>();

  /** @param timeNs of a batch of so many items, after so long a pause of the thread */
  constructor(
    private readonly thread: HostThread,
    private readonly timeNs: (batchId: number, items: number, pauseNs: number) => number,
  ) {}

  sent({ batchId, items }: PredictFrame, nowNs: number): void {
    let forNs = 0;
    const doneNs = this.thread.take(nowNs, (pauseNs) => {
      forNs = this.timeNs(batchId, items.length, pauseNs);
      return forNs;
    });
    this.batches.set(batchId, { fromNs: doneNs - forNs, doneNs });
  }

  done({ batchId, serviceNs }: ResultFrame, nowNs: number): ReturnType<ResultTimes['done']> {
    const batch = this.batches.get(batchId);
    if (batch === undefined) return undefined;
    this.batches.delete(batchId);
    const atNs = Math.max(nowNs, batch.doneNs);
    return { atNs, serviceNs: Math.max(serviceNs, atNs - batch.fromNs) };
  }
}

/** Of a process beside the frontend: later by what the way takes, in the order in which they were made. */
export class SentResults implements ResultTimes {
  private lastNs = -Infinity;

  /** @param wayNs of a batch there and back, after so long a pause */
  constructor(private readonly wayNs: (batchId: number, pauseNs: number) => number) {}

  sent(): void {
    // The container begins it in its own time.
  }

  done({ batchId, serviceNs }: ResultFrame, nowNs: number): ReturnType<ResultTimes['done']> {
    const pauseNs = Math.max(0, nowNs - serviceNs - this.lastNs);
    this.lastNs = Math.max(this.lastNs, nowNs + this.wayNs(batchId, pauseNs));
    return { atNs: this.lastNs, serviceNs };
  }
}
