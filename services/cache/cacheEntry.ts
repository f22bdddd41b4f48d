/** One arm's answer, as a container gave it. */
export interface Prediction {
  readonly output: string;
  readonly scores?: Float32Array | undefined;
}

/** Why an evaluation gave no prediction. */
export interface PredictionFailure {
  readonly reason: 'model_error' | 'overload' | 'no_replica' | 'expired' | 'invalid_input';
  readonly message: string;
  /** With `overload`: when the queue is expected to have room again. */
  readonly retryAfterNs?: number;
}

/**
 * The trace of somebody who waits for a prediction. Ends with one of its calls; the cache only carries it. Only traced
 * requests have one.
 */
export interface WaiterTrace {
  onPrediction(): void;
  onFailure(failure: PredictionFailure): void;
  /** It waits no longer: its deadline has come, its client has gone, or another model was asked in its place. */
  onLeft(reason: 'deadline' | 'cancelled' | 'passed'): void;
}

/**
 * Somebody who waits for a prediction. Waiters of one entry are linked through themselves, so that a join allocates
 * nothing; a waiter waits for one entry at a time.
 */
export interface CacheWaiter {
  nextWaiter: CacheWaiter | undefined;
  /** undefined once it has ended. */
  readonly trace?: WaiterTrace | undefined;
  onPrediction(prediction: Prediction): void;
  onFailure(failure: PredictionFailure): void;
}

/**
 * A prediction under way or kept: model and input are its key. `W` is the work that evaluates it, which the cache
 * carries for its owner. One object for all of it: every kept entry is one more for the garbage collector to walk.
 */
export class CacheEntry<W> implements Prediction {
  /** Whether output and scores are there; false while the evaluation is under way. */
  ready = false;
  output = '';
  scores: Float32Array | undefined;
  /** Set by the owner once the evaluation is queued; cleared when it ends. */
  work: W | undefined;
  firstWaiter: CacheWaiter | undefined;
  lastWaiter: CacheWaiter | undefined;
  /** Waiters that have not been released. At zero nobody wants the evaluation any more. */
  waiting = 0;
  /** What the entry counts against the limit once it is kept. */
  bytes = 0;
  /** CLOCK's reference bit: set by a hit, cleared by the passing hand. */
  referenced = false;
  /** Neighbours on the clock's ring; undefined when not kept. */
  ringNext: CacheEntry<W> | undefined;
  ringBefore: CacheEntry<W> | undefined;
  /** The next entry of the same hash bucket. */
  nextInBucket: CacheEntry<W> | undefined;

  constructor(
    readonly model: number,
    readonly input: Uint8Array,
    readonly hash: number,
  ) {}

  addWaiter(waiter: CacheWaiter): void {
    waiter.nextWaiter = undefined;
    if (this.lastWaiter === undefined) this.firstWaiter = waiter;
    else this.lastWaiter.nextWaiter = waiter;
    this.lastWaiter = waiter;
    this.waiting += 1;
  }

  /** Of all traced requests that wait. */
  collectTraces(into: WaiterTrace[]): void {
    for (let waiter = this.firstWaiter; waiter !== undefined; waiter = waiter.nextWaiter) {
      if (waiter.trace !== undefined) into.push(waiter.trace);
    }
  }
}
