import { JobError, type JobLedger } from '../jobs/index.js';
import type { ChunkQueue } from './chunkQueue.js';
import type { RedisJobs } from './redisJobs.js';

/** How often a Redis that takes nothing is tried. */
const TRIAL_INTERVAL_MS = 500;
/** One that Redis has no room for, or that is damaged, is tried less often. */
const STUCK_INTERVAL_MS = 5000;
/** Chunks that go to Redis together. */
const TOGETHER = 16;

export interface JobDeliveryOptions {
  /** Jobs in files of this frontend, on their way. */
  readonly spool: JobLedger;
  readonly jobs: RedisJobs;
  readonly queue: ChunkQueue;
  /** Redis takes nothing at present; undefined: it does again. */
  readonly onAway: (error: unknown) => void;
  /** A job stays in the spool though Redis is there: told once. */
  readonly onStuck: (id: string, error: JobError) => void;
}

/**
 * Brings jobs from files to Redis, whole or not at all, with the results that they have. A job keeps its id: what Redis has had
 * already, or somebody has removed there, is not brought twice.
 */
export class JobDelivery {
  private readonly underWay = new Map<string, Promise<unknown>>();
  private readonly stuck = new Set<string>();
  private trial: NodeJS.Timeout | undefined;
  private isAway = false;
  private isClosed = false;

  constructor(private readonly options: JobDeliveryOptions) {}

  /** Nothing was taken when it was tried last. */
  get away(): boolean {
    return this.isAway;
  }

  /** Brings what an earlier process has left, and from here on what stays behind. */
  start(): void {
    void this.bringAll();
  }

  /** @throws JobError (as a rejection) where Redis does not take it; it stays in the spool */
  deliver(id: string): Promise<void> {
    return this.alone(id, async () => {
      try {
        await this.bring(id);
      } catch (error) {
        // Else what it has got so far would take room from those that fit.
        const isAway = error instanceof JobError && error.code === 'away';
        if (!isAway) await this.options.jobs.drop(id, false).catch(() => undefined);
        throw error;
      }
    });
  }

  /** Once nothing happens to a job in the spool, and before anything else does. */
  async alone<T>(id: string, work: () => Promise<T>): Promise<T> {
    for (let before = this.underWay.get(id); before !== undefined; before = this.underWay.get(id))
      await before.catch(() => undefined);
    const present = work();
    this.underWay.set(id, present);
    try {
      return await present;
    } finally {
      this.underWay.delete(id);
    }
  }

  /** It is tried again later. */
  goAway(error: unknown): void {
    if (!this.isAway) this.options.onAway(error);
    this.isAway = true;
    this.schedule(TRIAL_INTERVAL_MS);
  }

  /** Redis is there, and does not take this one at present. */
  leave(id: string, error: JobError): void {
    if (!this.stuck.has(id)) this.options.onStuck(id, error);
    this.stuck.add(id);
    this.schedule(STUCK_INTERVAL_MS);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.trial);
    await Promise.allSettled(this.underWay.values());
  }

  private async bring(id: string): Promise<void> {
    const { spool, jobs, queue } = this.options;
    const progress = await spool.progress(id);
    if (progress === undefined) return;
    const { description, answered, failed } = progress;
    const isCancelled = progress.state === 'cancelled';
    const open: number[] = [];
    let isThere = false;
    for (let from = 0; from < description.chunks && !isThere && !this.isClosed; from += TOGETHER) {
      const indexes = Array.from(
        { length: Math.min(TOGETHER, description.chunks - from) },
        (_, at) => from + at,
      );
      const found = await Promise.all(
        indexes.map(async (index) => {
          const results = await spool.results(id, index);
          if (results !== undefined) return jobs.stage(id, index, undefined, results);
          open.push(index);
          return !isCancelled && (await jobs.stage(id, index, await spool.chunk(id, index), ''));
        }),
      );
      isThere = found.some((one) => one);
    }
    if (this.isClosed) return;
    if (await jobs.commit({ description, answered, failed, isCancelled })) {
      // Whoever finds a job of which nothing waits queues it: this is no reason to bring it again.
      if (!isCancelled)
        await queue
          .add(
            id,
            open.sort((a, b) => a - b),
          )
          .catch(() => undefined);
    }
    await spool.remove(id);
    await jobs.settle(id).catch(() => undefined);
  }

  private schedule(inMs: number): void {
    clearTimeout(this.trial);
    if (this.isClosed) return;
    this.trial = setTimeout(() => void this.bringAll(), inMs);
    this.trial.unref();
  }

  private async bringAll(): Promise<void> {
    const { jobs, spool, onAway } = this.options;
    try {
      await jobs.running();
      if (this.isAway) onAway(undefined);
      this.isAway = false;
      for (const { description } of await spool.list()) await this.bringOrLeave(description.id);
    } catch (error) {
      this.goAway(error);
    }
  }

  /** @throws JobError (as a rejection) `away`; any other keeps no other job from going */
  private async bringOrLeave(id: string): Promise<void> {
    try {
      await this.deliver(id);
      this.stuck.delete(id);
    } catch (error) {
      if (!(error instanceof JobError) || error.code === 'away') throw error;
      this.leave(id, error);
    }
  }
}
