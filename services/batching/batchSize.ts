/** An answered batch, as the controller of batch sizes sees it. */
export interface BatchSample {
  readonly size: number;
  /** The controller's limit when the batch was sent. */
  readonly limit: number;
  /** From the batch's arrival in the container to its answer: no queueing in the frontend. */
  readonly serviceNs: number;
}

/** Decides how many items a replica's batches may have at most. A batch is never padded up to it. */
export interface BatchSizeController {
  readonly strategy: string;
  /** At least 1, and never more than the container takes. */
  limit(): number;
  /** The limit after so many more full batches in time: what the queue may hope for. */
  limitAfter(batches: number): number;
  observe(sample: BatchSample): void;
  /** The time that a batch may take; Infinity: as long as it likes. */
  setObjectiveNs(objectiveNs: number): void;
}

export interface AimdOptions {
  /** Items added after a full batch in time. */
  readonly increase?: number;
  /** Factor on the limit after a batch that took too long. */
  readonly backOff?: number;
  /** What the container takes at most. */
  readonly ceiling: number;
}

/**
 * Additive increase, multiplicative decrease (Clipper 4.3.1): the limit grows by a fixed amount until the latency to
 * process a batch exceeds the objective, and then backs off by 10 %.
 *
 * Only a batch that filled the limit says that a larger one may be in time, so only such a one raises it. A batch that
 * was sized before the last back-off says nothing about the limit of now, so it lowers nothing: with two batches in flight
 * one slow moment would otherwise be punished twice.
 */
export class AimdController implements BatchSizeController {
  readonly strategy = 'aimd';
  private readonly increase: number;
  private readonly backOff: number;
  private readonly ceiling: number;
  private current = 1;
  private objectiveNs = Infinity;

  constructor(options: AimdOptions) {
    // Two a batch reach the 26-fold batches of the paper's figure 4 within seconds at a 20 ms objective, and overshoot
    // by less than the back-off takes away again.
    this.increase = options.increase ?? 2;
    this.backOff = options.backOff ?? 0.9;
    this.ceiling = options.ceiling;
  }

  limit(): number {
    return this.current;
  }

  limitAfter(batches: number): number {
    return Math.min(this.ceiling, this.current + batches * this.increase);
  }

  observe(sample: BatchSample): void {
    if (sample.serviceNs > this.objectiveNs) {
      if (sample.limit <= this.current) this.current = Math.max(1, Math.floor(this.current * this.backOff));
    } else if (sample.size >= this.current) {
      this.current = Math.min(this.ceiling, this.current + this.increase);
    }
  }

  setObjectiveNs(objectiveNs: number): void {
    this.objectiveNs = objectiveNs;
  }
}

/** Clipper's positive `batch_size`: a maximum that never moves. Of 1: no batching. */
export class FixedController implements BatchSizeController {
  constructor(
    private readonly maxBatchSize: number,
    readonly strategy: 'fixed' | 'none' = 'fixed',
  ) {}

  limit(): number {
    return this.maxBatchSize;
  }

  limitAfter(): number {
    return this.maxBatchSize;
  }

  observe(): void {}

  setObjectiveNs(): void {}
}
