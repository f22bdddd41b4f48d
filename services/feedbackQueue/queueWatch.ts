import type { Queue } from 'bullmq';
import type { FeedbackJob } from './feedbackJob.js';

/** What waits in Redis to be learned. */
export interface QueueState {
  readonly waiting: number;
  readonly active: number;
  /** Failed before and tried again later. */
  readonly delayed: number;
  readonly failed: number;
  /** How long the oldest has waited. Seconds. */
  readonly lagSeconds: number;
}

const LOOK_EVERY_MS = 2000;

/** Looks again and again what is in the queue. While Redis is away, the last that was seen stays. */
export class QueueWatch {
  private present: QueueState = { waiting: 0, active: 0, delayed: 0, failed: 0, lagSeconds: 0 };
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly queue: Queue<FeedbackJob>,
    private readonly nowMs: () => number = Date.now,
  ) {}

  get state(): QueueState {
    return this.present;
  }

  start(): void {
    this.schedule();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private schedule(): void {
    this.timer = setTimeout(() => {
      this.look()
        .catch(() => undefined)
        .finally(() => void (this.timer === undefined || this.schedule()));
    }, LOOK_EVERY_MS);
    this.timer.unref();
  }

  private async look(): Promise<void> {
    const counts = await this.queue.getJobCounts('waiting', 'active', 'delayed', 'failed');
    const [oldest] = await this.queue.getJobs(['waiting'], 0, 0, true);
    const { waiting = 0, active = 0, delayed = 0, failed = 0 } = counts;
    const oldestMs = (oldest as (typeof oldest & { readonly timestamp: number }) | undefined)?.timestamp;
    const lagSeconds = oldestMs === undefined ? 0 : Math.max(0, this.nowMs() - oldestMs) / 1000;
    this.present = { waiting, active, delayed, failed, lagSeconds };
  }
}
