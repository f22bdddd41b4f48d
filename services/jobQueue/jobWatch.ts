import type { JobCounts } from '../jobs/index.js';
import type { RedisJobs } from './redisJobs.js';

const LOOK_EVERY_MS = 2000;

/** Looks again and again what there is. While Redis is away, the last that was seen stays. */
export class JobWatch {
  private present: Omit<JobCounts, 'spooled' | 'unreadable'> = {
    jobs: { running: 0, done: 0, cancelled: 0 },
    linesPending: 0,
    lagSeconds: 0,
  };
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly jobs: RedisJobs) {}

  get counts(): Omit<JobCounts, 'spooled' | 'unreadable'> {
    return this.present;
  }

  start(): void {
    this.timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
    this.timer.unref();
    void this.look();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private async look(): Promise<void> {
    try {
      this.present = await this.jobs.counts();
    } catch {
      // Whoever wants something of Redis says that it is away.
    }
  }
}
