import { UnrecoverableError, Worker, type Job } from 'bullmq';
import { Lease } from '../cluster/index.js';
import type { FeedbackDesk, FeedbackOutcome } from '../prediction/index.js';
import type { RedisConnection } from '../redis/index.js';
import { isFeedbackJob, resolvedOf, type FeedbackJob } from './feedbackJob.js';
import type { FeedbackFate } from './feedbackOutcomes.js';

/** Feedback that is learned at a time: together it is one write of each state. */
const CONCURRENCY = 256;

/** A worker that is silent for so long has died, and others take what it had. */
const LOCK_MS = 5000;
const STALLED_CHECK_MS = 2000;
/** However often workers die under it, feedback is not given up for that. */
const MOST_STALLS = 1_000_000;
/** After a failure of Redis. */
const RETRY_DELAY_MS = 500;

/** What failed for good is kept so long (s), and so much of it. */
const FAILED_KEPT = { age: 30 * 86_400, count: 10_000 };

const LEASE_MS = 3000;

/** Frontends and states whose order is remembered. */
const MOST_ORDERS = 10_000;

export interface FeedbackWorkerOptions {
  /** For commands, and for waiting: duplicated by BullMQ. */
  readonly connection: RedisConnection;
  readonly commands: RedisConnection;
  readonly prefix: string;
  readonly queueName: string;
  readonly holder: string;
  readonly desk: FeedbackDesk;
  readonly onFate: (application: string, fate: FeedbackFate) => void;
  readonly onError: (error: Error) => void;
}

/** It cannot be learned now; later perhaps. */
class NotNowError extends Error {
  override readonly name = 'NotNowError';

  constructor(
    message: string,
    readonly fate: 'late' | 'failed',
  ) {
    super(message);
  }
}

/**
 * Learns what is queued. One frontend at a time does, by a lease; where two do for a moment, compare-and-set and marks keep
 * each feedback from being learned twice. A job is done once what it taught is in the store.
 */
export class FeedbackWorker {
  private readonly worker: Worker<FeedbackJob>;
  private readonly lease: Lease;
  /** Numbers of the last that was learned, by frontend and state. */
  private readonly orders = new Map<string, number>();

  constructor(private readonly options: FeedbackWorkerOptions) {
    const { connection, commands, prefix, queueName, holder, onError } = options;
    this.worker = new Worker<FeedbackJob>(queueName, (job) => this.learn(job), {
      connection,
      prefix,
      autorun: false,
      concurrency: CONCURRENCY,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: MOST_STALLS,
      runRetryDelay: RETRY_DELAY_MS,
      // What was learned is known by its marks.
      removeOnComplete: { count: 0 },
      removeOnFail: FAILED_KEPT,
    });
    this.worker.on('error', onError);
    this.worker.on('failed', (job, error) => this.onFailed(job, error));
    this.lease = new Lease({
      redis: commands,
      prefix,
      name: 'feedback',
      holder,
      ttlMs: LEASE_MS,
      onChange: (token) => this.onLease(token !== undefined),
    });
  }

  start(): void {
    this.lease.start();
  }

  /** What it has begun ends, if Redis is there; the rest is another's. */
  async close(isRedisThere: boolean): Promise<void> {
    await this.lease.stop();
    await this.worker.close(!isRedisThere);
  }

  private onLease(isOurs: boolean): void {
    // Resuming also starts it.
    void (isOurs ? this.worker.resume() : this.worker.pause(true)).catch(this.options.onError);
  }

  private async learn(job: Job<FeedbackJob>): Promise<void> {
    const { data } = job;
    if (!isFeedbackJob(data)) throw new UnrecoverableError('this is no feedback of Windjammer');
    const { desk, onFate } = this.options;
    const outcome = await new Promise<FeedbackOutcome>((resolve) =>
      desk.learn(resolvedOf(data), { marks: data.marks, isKeptElsewhere: true }, resolve),
    );
    onFate(data.application, this.fateOf(data, outcome));
  }

  /** @throws UnrecoverableError, NotNowError */
  private fateOf(job: FeedbackJob, { accepted, joined, durable, refusal }: FeedbackOutcome): FeedbackFate {
    if (refusal?.code === 'unknown_application') {
      // One that was registered just now may not be known here yet.
      throw new NotNowError(`there is no application '${job.application}' any more`, 'late');
    }
    if (refusal?.code === 'shutting_down') throw new NotNowError(refusal.message, 'failed');
    if (refusal !== undefined) throw new UnrecoverableError(refusal.message);
    if (!accepted) throw new NotNowError('no linked model could evaluate the input', 'failed');
    if (!durable) throw new NotNowError('what it taught could not be written', 'failed');
    if (joined === 'repeated') return 'duplicate';
    if (joined === 'pinned') return 'pinned';
    if (this.options.desk.isLate(job.application, job.selection?.arms)) return 'late';
    return this.isOutOfOrder(job) ? 'out_of_order' : 'learned';
  }

  private isOutOfOrder({ application, context, from, number }: FeedbackJob): boolean {
    const order = `${from}\n${application}\n${context}`;
    const last = this.orders.get(order) ?? -1;
    this.orders.delete(order);
    this.orders.set(order, Math.max(last, number));
    if (this.orders.size > MOST_ORDERS) this.orders.delete(this.orders.keys().next().value ?? '');
    return number < last;
  }

  private onFailed(job: Job<FeedbackJob> | undefined, error: Error): void {
    if (job === undefined) return;
    const application = isFeedbackJob(job.data) ? job.data.application : '';
    const isLast = job.attemptsMade >= (job.opts.attempts ?? 1);
    if (error instanceof UnrecoverableError) this.options.onFate(application, 'poisonous');
    else if (isLast) this.options.onFate(application, error instanceof NotNowError ? error.fate : 'failed');
  }
}
