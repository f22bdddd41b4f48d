import { Lease } from '../cluster/index.js';
import type { RedisConnection } from '../redis/index.js';
import type { ChunkQueue } from './chunkQueue.js';
import type { RedisJobs } from './redisJobs.js';

const LEASE_MS = 5000;
const CARE_EVERY_MS = 5000;

export interface JobCareOptions {
  readonly commands: RedisConnection;
  /** Of every key: `keyPrefix`. */
  readonly prefix: string;
  readonly frontend: string;
  readonly jobs: RedisJobs;
  readonly queue: ChunkQueue;
}

/**
 * What one frontend at a time does for all: it collects uploads that broke off, and queues chunks of running jobs again that nothing
 * holds any more, as where a frontend died between making a job and queueing it. Two that do it at once do no harm.
 */
export class JobCare {
  private readonly lease: Lease;
  private timer: NodeJS.Timeout | undefined;
  /** Lines answered at the last look, by running job. */
  private seen = new Map<string, number>();
  private isBusy = false;

  constructor(private readonly options: JobCareOptions) {
    const { commands: redis, prefix, frontend: holder } = options;
    this.lease = new Lease({
      redis,
      prefix,
      name: 'jobs',
      holder,
      ttlMs: LEASE_MS,
      onChange: () => this.seen.clear(),
    });
  }

  start(): void {
    this.lease.start();
    this.timer = setInterval(() => void this.care(), CARE_EVERY_MS);
    this.timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.lease.stop();
  }

  private async care(): Promise<void> {
    if (this.isBusy || this.lease.token === undefined) return;
    this.isBusy = true;
    try {
      await this.options.jobs.collectUploads();
      await this.revive();
    } catch {
      // While Redis is away there is nothing to be done, and the next look finds what this one has not.
    } finally {
      this.isBusy = false;
    }
  }

  /** Looks closer at jobs that have got nothing since the last look. */
  private async revive(): Promise<void> {
    const { jobs, queue } = this.options;
    const seen = new Map<string, number>();
    for (const id of await jobs.running()) {
      const progress = await jobs.progress(id);
      if (progress === undefined) continue;
      seen.set(id, progress.answered);
      if (this.seen.get(id) !== progress.answered) continue;
      const open = await jobs.open(id);
      if (open.length === 0) continue;
      // They are queued in their order: where the first and the last are there, so are those between them.
      const isQueued = (await queue.has(id, open[0])) && (await queue.has(id, open[open.length - 1]));
      if (!isQueued) await queue.add(id, open);
    }
    this.seen = seen;
  }
}
