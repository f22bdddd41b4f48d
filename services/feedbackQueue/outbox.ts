import type { Queue } from 'bullmq';
import type { FeedbackJob, QueuedFeedback } from './feedbackJob.js';
import type { FeedbackSpool } from './feedbackSpool.js';

/** How feedback was kept: in Redis, in this frontend's own files until Redis is back, or not at all. */
export type Kept = 'queued' | 'spooled' | undefined;

interface Waiting {
  readonly feedback: QueuedFeedback;
  readonly done: (kept: Kept) => void;
}

/** Jobs that go to Redis together. */
const MOST_TOGETHER = 256;
const MOST_BYTES_TOGETHER = 4 * 1024 * 1024;

/** How often a Redis that is away is tried. */
const TRIAL_INTERVAL_MS = 500;

/** Of each job. */
const JOB_NAME = 'feedback';

/**
 * Feedback on its way to Redis: what comes while some is on its way goes together, and what Redis does not take (it is away,
 * full, or read-only) goes to the spool and from there to Redis once that takes it.
 */
export class Outbox {
  private waiting: Waiting[] = [];
  private isSending = false;
  private isAway = false;
  private isClosed = false;
  private trial: NodeJS.Timeout | undefined;
  private readonly idle: (() => void)[] = [];

  constructor(
    private readonly queue: Queue<FeedbackJob>,
    private readonly spool: FeedbackSpool | undefined,
    private readonly onAway: (isAway: boolean, error?: unknown) => void,
  ) {
    // What an earlier process has left.
    if (spool !== undefined && spool.size > 0) this.scheduleTrial();
  }

  /** Redis takes nothing at present. */
  get away(): boolean {
    return this.isAway;
  }

  /** Calls back once, when it is kept or cannot be. */
  add(feedback: QueuedFeedback, done: (kept: Kept) => void): void {
    if (this.isAway) {
      this.toSpool({ feedback, done });
      return;
    }
    this.waiting.push({ feedback, done });
    if (!this.isSending) void this.send();
  }

  /** Once nothing is on its way. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.trial);
    if (this.isSending) await new Promise<void>((resolve) => this.idle.push(resolve));
  }

  private async send(): Promise<void> {
    this.isSending = true;
    while (this.waiting.length > 0) {
      // What one turn of the event loop brings goes together.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = this.next();
      try {
        await this.deliver(batch.map(({ feedback }) => feedback));
        for (const { done } of batch) done('queued');
      } catch (error) {
        this.goAway(error);
        // Redis may have it all the same: under the same ids it is not learned twice.
        for (const one of [...batch, ...this.waiting.splice(0)]) this.toSpool(one);
      }
    }
    this.isSending = false;
    for (const resolve of this.idle.splice(0)) resolve();
  }

  private next(): readonly Waiting[] {
    let bytes = 0;
    let count = 0;
    while (count < this.waiting.length && count < MOST_TOGETHER && bytes < MOST_BYTES_TOGETHER) {
      bytes += this.waiting[count].feedback.bytes;
      count += 1;
    }
    return this.waiting.splice(0, count);
  }

  /** @throws what Redis says of any of them */
  private async deliver(batch: readonly QueuedFeedback[]): Promise<void> {
    await this.queue.addBulk(
      batch.map(({ id, job }) => ({ name: JOB_NAME, data: job, opts: { jobId: id } })),
    );
  }

  private toSpool({ feedback, done }: Waiting): void {
    if (this.spool === undefined) done(undefined);
    else this.spool.add(feedback, (isKept) => done(isKept ? 'spooled' : undefined));
  }

  private goAway(error: unknown): void {
    if (!this.isAway) this.onAway(true, error);
    this.isAway = true;
    this.scheduleTrial();
  }

  private scheduleTrial(): void {
    clearTimeout(this.trial);
    if (this.isClosed) return;
    this.trial = setTimeout(() => void this.tryAgain(), TRIAL_INTERVAL_MS);
    this.trial.unref();
  }

  /** Delivers what was spooled; only then, or when there is nothing, Redis counts as back. */
  private async tryAgain(): Promise<void> {
    try {
      if (this.spool === undefined || this.spool.size === 0) await this.queue.getWaitingCount();
      else await this.empty(this.spool);
    } catch {
      this.scheduleTrial();
      return;
    }
    if (this.isClosed) return;
    if (this.isAway) this.onAway(false);
    this.isAway = false;
    // What was spooled while the last of it was on its way.
    if (this.spool !== undefined && this.spool.size > 0) this.scheduleTrial();
  }

  private async empty(spool: FeedbackSpool): Promise<void> {
    for (let batch = spool.first(MOST_TOGETHER); batch.length > 0; batch = spool.first(MOST_TOGETHER)) {
      await this.deliver(batch);
      spool.remove(batch.map(({ id }) => id));
      if (this.isClosed) return;
    }
  }
}
