import type { Complaint } from '../errors/index.js';
import {
  byAge,
  JobError,
  type ChunkResults,
  type FileLedger,
  type JobChunk,
  type JobCounts,
  type JobDescription,
  type JobLedger,
  type JobProgress,
  type UnreadableJob,
} from '../jobs/index.js';
import type { RedisAddress } from '../redis/index.js';
import { ChunkQueue } from './chunkQueue.js';
import { JobCare } from './jobCare.js';
import type { JobConnections } from './jobConnections.js';
import { JobDelivery } from './jobDelivery.js';
import { JobWatch } from './jobWatch.js';
import { RedisJobs } from './redisJobs.js';

export interface SharedLedgerOptions {
  readonly connections: JobConnections;
  readonly address: RedisAddress;
  /** Of every key: `keyPrefix`. */
  readonly prefix: string;
  /** Of this process. */
  readonly frontend: string;
  /** Of all jobs together, and of those in the spool. */
  readonly mostBytes: number;
  /** Files of this process alone, through which jobs go to Redis. It is stopped with this. */
  readonly spool: FileLedger;
  /** Whether the spool outlives the process. */
  readonly isSpoolKept: boolean;
  readonly complain: Complaint;
}

/**
 * Jobs of all frontends that share a Redis. A job lies in files of the frontend that takes it until Redis has it: an input that
 * breaks off never gets there, and while Redis is away the files hold what was acknowledged.
 */
export class SharedLedger implements JobLedger {
  private readonly jobs: RedisJobs;
  private readonly queue: ChunkQueue;
  private readonly delivery: JobDelivery;
  private readonly care: JobCare;
  private readonly watch: JobWatch;
  private readonly spool: FileLedger;

  constructor(private readonly options: SharedLedgerOptions) {
    const { connections, address, prefix, frontend, mostBytes, spool, complain } = options;
    const { commands, worker } = connections;
    this.spool = spool;
    const jobs = new RedisJobs(commands, address, prefix, mostBytes);
    const queue = new ChunkQueue({
      commands,
      worker,
      prefix,
      isOpen: (job, index) => jobs.isOpen(job, index),
    });
    this.jobs = jobs;
    this.queue = queue;
    this.delivery = new JobDelivery({
      spool,
      jobs,
      queue,
      onAway: (error) => {
        if (error === undefined) complain('Redis takes batch jobs again', {});
        else complain('Redis takes no batch jobs: new ones are kept here', { cause: error });
      },
      onStuck: (job, error) =>
        complain('a batch job that was accepted waits here for Redis to take it', {
          job,
          reason: error.message,
        }),
    });
    this.care = new JobCare({ commands, prefix, frontend, jobs, queue });
    this.watch = new JobWatch(jobs);
    this.delivery.start();
    this.care.start();
    this.watch.start();
  }

  async create(
    of: Pick<JobDescription, 'application' | 'launchClass'>,
    chunks: AsyncIterable<JobChunk>,
  ): Promise<JobDescription> {
    const description = await this.spool.create(of, chunks);
    const { id } = description;
    if (this.delivery.away && this.options.isSpoolKept) return description;
    try {
      await this.delivery.deliver(id);
    } catch (error) {
      if (!(error instanceof JobError)) throw error;
      if (error.code === 'away') this.delivery.goAway(error);
      if (error.code === 'full' || !this.options.isSpoolKept) {
        await this.delivery.alone(id, () => this.spool.remove(id));
        throw error.code === 'full' ? error : notKept(error);
      }
      // Files hold it until Redis takes it.
      if (error.code !== 'away') this.delivery.leave(id, error);
    }
    return description;
  }

  async list(): Promise<readonly JobProgress[]> {
    // What is delivered meanwhile is in one of them at least.
    const spooled = await this.spool.list();
    const shared = await this.jobs.list();
    const known = new Set(shared.map(({ description }) => description.id));
    return [...shared, ...spooled.filter(({ description }) => !known.has(description.id))].sort(byAge);
  }

  unreadable(): readonly UnreadableJob[] {
    return this.spool.unreadable();
  }

  async progress(id: string): Promise<JobProgress | undefined> {
    const spooled = await this.spool.progress(id);
    try {
      return (await this.jobs.progress(id)) ?? spooled;
    } catch (error) {
      if (spooled === undefined) throw error;
      return spooled;
    }
  }

  chunk(id: string, index: number): Promise<JobChunk | undefined> {
    return this.jobs.chunk(id, index);
  }

  keep(id: string, index: number, results: ChunkResults): Promise<boolean> {
    return this.jobs.keep(id, index, results);
  }

  async results(id: string, index: number): Promise<string | undefined> {
    const isSpooled = (await this.spool.progress(id)) !== undefined;
    try {
      return await this.jobs.results(id, index);
    } catch (error) {
      if (!isSpooled) throw error;
      // Delivered meanwhile, Redis has it.
      return await this.spool.results(id, index).catch(() => this.jobs.results(id, index));
    }
  }

  cancel(id: string): Promise<void> {
    return this.whereItIs(
      id,
      () => this.jobs.cancel(id),
      () => this.spool.cancel(id),
    );
  }

  remove(id: string): Promise<void> {
    if (this.spool.unreadable().some((one) => one.id === id)) return this.spool.remove(id);
    return this.whereItIs(
      id,
      () => this.jobs.remove(id),
      () => this.spool.remove(id),
    );
  }

  work(take: (id: string, index: number) => Promise<void>): void {
    this.queue.work(take);
  }

  counts(): JobCounts {
    const { jobs, unreadable } = this.spool.counts();
    return { ...this.watch.counts, spooled: jobs.running + jobs.done + jobs.cancelled, unreadable };
  }

  async stop(): Promise<void> {
    const { connections } = this.options;
    this.watch.stop();
    await this.delivery.close();
    await this.queue.close(connections.commands.status === 'ready');
    await this.care.stop();
    connections.close();
    await this.spool.stop();
  }

  /** In Redis, or in the spool where Redis has never had it. */
  private whereItIs(id: string, inRedis: () => Promise<void>, inSpool: () => Promise<void>): Promise<void> {
    return this.delivery.alone(id, async () => {
      try {
        await inRedis();
      } catch (error) {
        const isUnknown = error instanceof JobError && error.code === 'unknown';
        if (!isUnknown || (await this.spool.progress(id)) === undefined) throw error;
        await inSpool();
      }
    });
  }
}

function notKept(cause: JobError): JobError {
  return new JobError(
    'away',
    `the job is not kept, send it again: ${cause.message}, and this frontend has no data directory to keep it in`,
    { cause },
  );
}
