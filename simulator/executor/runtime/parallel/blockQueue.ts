import type { BlockRange } from '../../types.js';

const NEXT = 0;
const STOP = 1;
const STATES = 2;

/** What a worker has come to in one launch. */
export const WORKER_STATE = {
  /** It has not begun: the launch may end without it. */
  called: 0,
  /** It has taken blocks, and will not end before they have. */
  running: 1,
  ended: 2,
  /** It could not go on with blocks that it had taken; a message says why. */
  failed: 3,
  /** It could not begin; a message says why. */
  unable: 4,
} as const;

export type WorkerState = (typeof WORKER_STATE)[keyof typeof WORKER_STATE];

/**
 * The blocks of one launch, handed out in order to whichever thread asks, and how far each worker is. Blocks are numbered
 * from the first of the launch's range. Every block below the lowest that has faulted has been handed out: the fault of
 * the lowest block is the one that running in order would have found.
 */
export class BlockQueue {
  readonly buffer: SharedArrayBuffer;
  private readonly words: Int32Array;

  /** @param buffer of a queue that another thread has made. @param perTurn most blocks to hand out at once */
  constructor(
    private readonly total: number,
    private readonly perTurn: number,
    private readonly threads: number,
    buffer?: SharedArrayBuffer,
  ) {
    this.buffer = buffer ?? new SharedArrayBuffer((STATES + threads) * Int32Array.BYTES_PER_ELEMENT);
    this.words = new Int32Array(this.buffer);
    if (buffer === undefined) this.words[STOP] = total;
  }

  /** Takes the next blocks; fewer towards the end, so that threads end together. */
  take(): BlockRange | undefined {
    for (;;) {
      const lo = Atomics.load(this.words, NEXT);
      const left = Math.min(this.total, Atomics.load(this.words, STOP)) - lo;
      if (left <= 0) return undefined;
      const count = Math.max(1, Math.min(this.perTurn, Math.ceil((this.total - lo) / (2 * this.threads))));
      const hi = Math.min(this.total, lo + count);
      if (Atomics.compareExchange(this.words, NEXT, lo, hi) === lo) return { lo, hi };
    }
  }

  /** Whether anybody could still take blocks. */
  get isOver(): boolean {
    return Atomics.load(this.words, NEXT) >= Math.min(this.total, Atomics.load(this.words, STOP));
  }

  /** A block has faulted: no more are handed out. */
  stopAt(block: number): void {
    for (;;) {
      const lowest = Atomics.load(this.words, STOP);
      if (lowest <= block || Atomics.compareExchange(this.words, STOP, lowest, block) === lowest) return;
    }
  }

  /** The lowest block that has faulted, or the number of blocks. */
  get stoppedAt(): number {
    return Atomics.load(this.words, STOP);
  }

  state(worker: number): WorkerState {
    return Atomics.load(this.words, STATES + worker) as WorkerState;
  }

  enter(worker: number, state: WorkerState): void {
    Atomics.store(this.words, STATES + worker, state);
    Atomics.notify(this.words, STATES + worker);
  }

  /** Waits while a worker is in a state. @returns false when that takes longer than so many milliseconds. */
  wait(worker: number, state: WorkerState, patienceMs: number): boolean {
    return Atomics.wait(this.words, STATES + worker, state, patienceMs) !== 'timed-out';
  }
}
