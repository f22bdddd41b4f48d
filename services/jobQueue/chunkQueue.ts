import { DelayedError, Queue, Worker, type Job } from 'bullmq';
import { HANDED_OUT } from '../jobs/index.js';
import type { RedisConnection } from '../redis/index.js';

const QUEUE_NAME = 'job-chunks';
const ENTRY_NAME = 'chunk';

/** A worker that is silent for so long has died, and others take what it had. */
const LOCK_MS = 5000;
const STALLED_CHECK_MS = 2000;
/** However often workers die under it, or fail, a chunk is not given up for that. */
const ENDLESS = 1_000_000;
/** After a failure of Redis. */
const RETRY_DELAY_MS = 500;
/** What came to nothing is handed out again after so long: to others first. */
const AGAIN_MS = 1000;

const LONGEST_CLOSE_MS = 6000;

/** Of BullMQ: less is more urgent. */
const LAST_PRIORITY = 2 ** 21 - 1;
/** Chunks that are queued together. */
const SLICE = 500;

/** A chunk, as the queue names it. */
interface ChunkName {
  readonly job: string;
  readonly index: number;
}

export interface ChunkQueueOptions {
  readonly commands: RedisConnection;
  /** For waiting: duplicated by BullMQ. */
  readonly worker: RedisConnection;
  /** Of every key: `keyPrefix`. */
  readonly prefix: string;
  /** Whether somebody should still answer a chunk. */
  readonly isOpen: (job: string, index: number) => Promise<boolean>;
}

/**
 * Chunks that wait for a frontend to answer them, of all jobs in turn. It holds names alone: whether a chunk has its results is
 * known elsewhere, so that a name that comes twice, or of a job that is gone, does no harm.
 */
export class ChunkQueue {
  private readonly queue: Queue<ChunkName>;
  private worker: Worker<ChunkName> | undefined;
  private isClosing = false;

  constructor(private readonly options: ChunkQueueOptions) {
    this.queue = new Queue<ChunkName>(QUEUE_NAME, {
      connection: options.commands,
      prefix: options.prefix,
      skipWaitingForReady: true,
      // Whoever opens the store checks it. A queue whose own check fails, as where Redis is killed just then, fails for ever.
      skipVersionCheck: true,
      streams: { events: { maxLen: 100 } },
      defaultJobOptions: {
        attempts: ENDLESS,
        backoff: { type: 'fixed', delay: AGAIN_MS },
        removeOnComplete: true,
        removeOnFail: true,
      },
    });
    this.queue.on('error', () => undefined);
  }

  /** Those that it has already stay as they are. @throws what Redis says (as a rejection) */
  async add(job: string, indexes: readonly number[]): Promise<void> {
    // Behind as many chunks of each other job as of this one: neither a long job nor many short ones keep others waiting.
    const [first] = await this.queue.getJobs(['prioritized'], 0, 0, true);
    const from = (first as Job<ChunkName> | undefined)?.opts.priority ?? 1;
    for (let at = 0; at < indexes.length; at += SLICE) {
      await this.queue.addBulk(
        indexes.slice(at, at + SLICE).map((index, more) => ({
          name: ENTRY_NAME,
          data: { job, index },
          opts: { jobId: entryId(job, index), priority: Math.min(LAST_PRIORITY, from + at + more) },
        })),
      );
    }
  }

  /** @throws what Redis says (as a rejection) */
  async has(job: string, index: number): Promise<boolean> {
    return ((await this.queue.getJob(entryId(job, index))) as Job<ChunkName> | undefined) !== undefined;
  }

  /** Hands out chunks until `close`; what is still open afterwards is handed out again. */
  work(take: (job: string, index: number) => Promise<void>): void {
    const { worker: connection, prefix } = this.options;
    this.worker = new Worker<ChunkName>(QUEUE_NAME, (entry, token) => this.handOut(entry, token, take), {
      connection,
      prefix,
      concurrency: HANDED_OUT,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: ENDLESS,
      runRetryDelay: RETRY_DELAY_MS,
    });
    // That Redis is away is said by whoever wants something of it.
    this.worker.on('error', () => undefined);
  }

  /** What is on its way goes back; where Redis is away, or does not answer soon, others take it once it is silent for too long. */
  async close(isRedisThere: boolean): Promise<void> {
    this.isClosing = true;
    await soon(this.worker?.close(!isRedisThere));
    await soon(this.queue.close());
  }

  private async handOut(
    entry: Job<ChunkName>,
    token: string | undefined,
    take: (job: string, index: number) => Promise<void>,
  ): Promise<void> {
    const { data } = entry;
    const { isOpen } = this.options;
    if (!isChunkName(data) || !(await isOpen(data.job, data.index))) return;
    await take(data.job, data.index);
    if (!(await isOpen(data.job, data.index))) return;
    await entry.moveToDelayed(Date.now() + (this.isClosing ? 0 : AGAIN_MS), token);
    throw new DelayedError();
  }
}

/** Connections of workers wait for a Redis that says nothing for as long as it takes; whoever stops does not. */
async function soon(work: Promise<void> | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, LONGEST_CLOSE_MS)));
  await Promise.race([work?.catch(() => undefined), late]);
  clearTimeout(timer);
}

function entryId(job: string, index: number): string {
  return `${job}.${index}`;
}

/** Others may write to a Redis, too. */
function isChunkName(data: unknown): data is ChunkName {
  if (typeof data !== 'object' || data === null) return false;
  const { job, index } = data as Partial<ChunkName>;
  return typeof job === 'string' && Number.isSafeInteger(index);
}
