import type { Job, Queue } from 'bullmq';
import { ServiceError } from '../errors/index.js';
import { isFeedbackJob, type FeedbackJob } from './feedbackJob.js';

/** Where feedback is on its way to what is learned of it. */
const QUEUE_STATES = ['waiting', 'active', 'delayed', 'failed'] as const;
export type QueueJobState = (typeof QUEUE_STATES)[number];

/** One feedback in the queue, as people see it. */
export interface QueueEntry {
  readonly id: string;
  readonly state: QueueJobState;
  readonly application: string;
  readonly context: string;
  readonly attempts: number;
  /** Why it was not learned the last time. */
  readonly reason?: string | undefined;
  readonly acceptedMs: number;
}

export interface QueueEntryDetails extends QueueEntry {
  readonly job: unknown;
}

/** Shows what is queued, and lets people decide about what has failed. */
export class QueueAdministration {
  constructor(private readonly queue: Queue<FeedbackJob>) {}

  async counts(): Promise<Readonly<Record<QueueJobState, number>>> {
    const counts = await this.asked(() => this.queue.getJobCounts(...QUEUE_STATES));
    const { waiting = 0, active = 0, delayed = 0, failed = 0 } = counts;
    return { waiting, active, delayed, failed };
  }

  /** The first so many of each state. */
  async list(states: readonly QueueJobState[], limit: number): Promise<readonly QueueEntry[]> {
    const entries: QueueEntry[] = [];
    for (const state of states) {
      const jobs = await this.asked(() => this.queue.getJobs([state], 0, limit - 1, true));
      for (const job of jobs as readonly (Job<FeedbackJob> | undefined)[]) {
        if (job !== undefined && entries.length < limit) entries.push(entryOf(job, state));
      }
    }
    return entries;
  }

  /** @throws ServiceError `unknown_feedback` (as a rejection) */
  async show(id: string): Promise<QueueEntryDetails> {
    const job = await this.find(id);
    const state = await this.asked(() => job.getState());
    const known = QUEUE_STATES.find((one) => one === state) ?? 'waiting';
    return { ...entryOf(job, known), job: job.data };
  }

  /** What has failed is tried again, from its first attempt. @throws ServiceError (as a rejection) */
  async retry(id: string): Promise<void> {
    const job = await this.find(id);
    await this.failedOnly(job);
    await this.asked(() => job.retry('failed', { resetAttemptsMade: true }));
  }

  /** How many are tried again. */
  async retryAll(): Promise<number> {
    return this.forFailed((job) => job.retry('failed', { resetAttemptsMade: true }));
  }

  /** What has failed is never learned. @throws ServiceError (as a rejection) */
  async drop(id: string): Promise<void> {
    const job = await this.find(id);
    await this.failedOnly(job);
    await this.asked(() => job.remove());
  }

  /** How many are dropped. */
  async dropAll(): Promise<number> {
    return this.forFailed((job) => job.remove());
  }

  private async forFailed(act: (job: Job<FeedbackJob>) => Promise<void>): Promise<number> {
    const jobs = (await this.asked(() => this.queue.getFailed(0, -1))) as readonly Job<FeedbackJob>[];
    let done = 0;
    for (const job of jobs) {
      // Somebody else may have retried or dropped it meanwhile.
      await act(job).then(
        () => (done += 1),
        () => undefined,
      );
    }
    return done;
  }

  private async failedOnly(job: Job<FeedbackJob>): Promise<void> {
    if (await this.asked(() => job.isFailed())) return;
    throw new ServiceError(
      'feedback_not_failed',
      `feedback '${job.id ?? ''}' has not failed: it is on its way to be learned`,
      'id',
    );
  }

  private async find(id: string): Promise<Job<FeedbackJob>> {
    const job = (await this.asked(() => this.queue.getJob(id))) as Job<FeedbackJob> | undefined;
    if (job !== undefined) return job;
    throw new ServiceError(
      'unknown_feedback',
      `there is no feedback '${id}' in the queue: it may be learned by now`,
      'id',
    );
  }

  /** @throws ServiceError `feedback_not_kept` (as a rejection) while Redis is away */
  private async asked<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (cause) {
      throw new ServiceError('redis_away', 'Redis, which keeps the queue, does not answer', undefined, {
        cause,
      });
    }
  }
}

function entryOf(job: Job<FeedbackJob>, state: QueueJobState): QueueEntry {
  const { data, failedReason } = job;
  const { application, context } = isFeedbackJob(data) ? data : { application: '', context: '' };
  return {
    id: job.id ?? '',
    state,
    application,
    context,
    attempts: job.attemptsMade,
    ...((failedReason as string | undefined) ? { reason: failedReason } : {}),
    acceptedMs: job.timestamp,
  };
}
