import { Queue } from 'bullmq';
import { SeenFeedback } from '../feedback/index.js';
import { refused } from '../prediction/index.js';
import type {
  FeedbackDesk,
  FeedbackDone,
  FeedbackOutcome,
  FeedbackRequest,
  QueryRefusal,
  ResolvedFeedback,
} from '../prediction/index.js';
import type { FeedbackConnections } from './feedbackConnections.js';
import { idsOf, queued, type FeedbackJob } from './feedbackJob.js';
import type { FeedbackFate } from './feedbackOutcomes.js';
import { DEFAULT_SPOOL_BYTES, FeedbackSpool } from './feedbackSpool.js';
import { FeedbackWorker } from './feedbackWorker.js';
import { FrontendMail } from './frontendMail.js';
import { Outbox, type Kept } from './outbox.js';
import { QueueAdministration } from './queueAdministration.js';
import { QueueWatch, type QueueState } from './queueWatch.js';

const QUEUE_NAME = 'feedback';

/** Feedback that learning failed on is tried so often: for about a quarter of an hour. */
const ATTEMPTS = 12;
const FIRST_RETRY_MS = 400;
/** By half: what failed together is not tried again together. */
const JITTER = 0.5;

/** A job has at most so many bytes of JSON. */
const MOST_JOB_BYTES = 4 * 1024 * 1024;

/** Feedback that is remembered without asking the store. */
const REMEMBERED = 65_536;

export interface FeedbackQueueOptions {
  readonly connections: FeedbackConnections;
  /** Of every key: `keyPrefix`. */
  readonly prefix: string;
  /** Of this frontend; what its query ids begin with. */
  readonly frontend: string;
  readonly desk: FeedbackDesk;
  /** Where feedback is kept while Redis is away; undefined: nowhere, it is refused then. */
  readonly dataDirectory: string | undefined;
  readonly spoolBytes?: number | undefined;
  readonly onFate: (application: string, fate: FeedbackFate) => void;
  /** An acknowledgement, or a refusal. */
  readonly onFeedback: (request: FeedbackRequest, outcome: FeedbackOutcome) => void;
  readonly complain: (message: string, details: Readonly<Record<string, unknown>>) => void;
}

/**
 * Feedback by way of Redis (BullMQ): acknowledged when Redis has it, or the spool while Redis is away; from then on it is
 * learned exactly once, whoever dies. The frontend that holds a query adds to feedback what was selected and answered, so
 * that any frontend can learn from it.
 */
export class FeedbackQueue {
  readonly administration: QueueAdministration;
  private readonly queue: Queue<FeedbackJob>;
  private readonly spool: FeedbackSpool | undefined;
  private readonly outbox: Outbox;
  private readonly worker: FeedbackWorker;
  private readonly mail: FrontendMail;
  private readonly watch: QueueWatch;
  private readonly seen = new SeenFeedback<FeedbackOutcome>(REMEMBERED);
  private accepted = 0;

  /** @throws StoreError when the spool cannot be opened */
  constructor(private readonly options: FeedbackQueueOptions) {
    const { connections, prefix, frontend, desk, dataDirectory, onFate, complain } = options;
    this.spool =
      dataDirectory === undefined
        ? undefined
        : new FeedbackSpool(dataDirectory, options.spoolBytes ?? DEFAULT_SPOOL_BYTES);
    this.queue = new Queue<FeedbackJob>(QUEUE_NAME, {
      connection: connections.commands,
      prefix,
      skipWaitingForReady: true,
      // Whoever opens the store checks it. A queue whose own check fails, as where Redis is killed just then, fails for ever.
      skipVersionCheck: true,
      streams: { events: { maxLen: 100 } },
      defaultJobOptions: {
        attempts: ATTEMPTS,
        backoff: { type: 'exponential', delay: FIRST_RETRY_MS, jitter: JITTER },
      },
    });
    this.queue.on('error', () => undefined);
    this.outbox = new Outbox(this.queue, this.spool, (isAway, error) => {
      if (isAway) complain('Redis takes no feedback: it is kept here', { cause: error });
      else complain('Redis takes feedback again', {});
    });
    this.worker = new FeedbackWorker({
      connection: connections.worker,
      commands: connections.commands,
      prefix,
      queueName: QUEUE_NAME,
      holder: frontend,
      desk,
      onFate,
      onError: () => undefined,
    });
    this.mail = new FrontendMail({
      commands: connections.commands,
      reader: connections.mail,
      prefix,
      name: frontend,
      answer: (question) => this.answer(question),
    });
    this.administration = new QueueAdministration(this.queue);
    this.watch = new QueueWatch(this.queue);
  }

  /** @throws what Redis says (as a rejection) */
  async start(): Promise<void> {
    await this.mail.start();
    this.worker.start();
    this.watch.start();
  }

  /** As `PredictionService.update`. */
  update(request: FeedbackRequest, done: FeedbackDone): void {
    const finish = (outcome: FeedbackOutcome): void => {
      this.options.onFeedback(request, outcome);
      done(outcome);
    };
    const judgement = this.options.desk.judge(request);
    if (judgement.kind === 'resolved') this.accept(judgement.feedback, finish);
    else if (judgement.kind === 'settled' || request.queryId === undefined) finish(judgement.outcome);
    else this.askHolder(request, request.queryId, judgement.outcome, finish);
  }

  /** What waits, as it was seen last. */
  state(): QueueState & {
    readonly spooled: number;
    readonly spooledBytes: number;
    readonly spoolLimitBytes: number;
  } {
    const { size: spooled = 0, bytes: spooledBytes = 0, limitBytes: spoolLimitBytes = 0 } = this.spool ?? {};
    return { ...this.watch.state, spooled, spooledBytes, spoolLimitBytes };
  }

  /** What is on its way ends; what was accepted and not learned is for others, or for later. */
  async close(): Promise<void> {
    this.watch.stop();
    await this.mail.close();
    await this.outbox.close();
    await this.worker.close(this.options.connections.commands.status === 'ready');
    await this.queue.close().catch(() => undefined);
    this.options.connections.close();
    await this.spool?.close();
  }

  private accept(feedback: ResolvedFeedback, done: FeedbackDone): void {
    const ids = idsOf(feedback);
    const one = queued(feedback, ids, this.options.frontend, this.accepted++);
    if (one.bytes > MOST_JOB_BYTES) {
      done(refused(tooLarge(one.bytes)));
      return;
    }
    this.onceFor(ids, done, (end) =>
      this.outbox.add(one, (kept) => {
        const outcome = outcomeOf(feedback, kept);
        if (kept === 'spooled') this.options.onFate(feedback.application, 'spooled');
        if (outcome.accepted && feedback.queryId !== undefined)
          this.options.desk.markJudged(feedback.queryId);
        end(outcome);
      }),
    );
  }

  /** Goes on when none of the ids was there before; otherwise what became of the first is told. */
  private onceFor(ids: readonly string[], done: FeedbackDone, go: (end: FeedbackDone) => void): void {
    const [id, ...others] = ids;
    if (ids.length === 0) {
      go(done);
      return;
    }
    const isFirst = this.seen.begin(id, (outcome) =>
      done(outcome.accepted ? { ...outcome, joined: 'repeated' } : outcome),
    );
    if (!isFirst) return;
    const end = (outcome: FeedbackOutcome): void => {
      this.seen.end(id, outcome, outcome.accepted && outcome.joined !== 'repeated');
      done(outcome);
    };
    this.onceFor(others, end, go);
  }

  /** Whoever answered the query knows what it was about. */
  private askHolder(
    request: FeedbackRequest,
    queryId: string,
    unknown: FeedbackOutcome,
    done: FeedbackDone,
  ): void {
    const holder = holderOf(queryId);
    if (holder === undefined || holder === this.options.frontend) {
      done(unknown);
      return;
    }
    const { application, context, label, loss, losses, idempotencyKey } = request;
    const question = { application, context, queryId, label, loss, losses, idempotencyKey };
    this.mail.ask(holder, question).then(
      (answer) => {
        if (answer === 'gone') done(unknown);
        else if (answer === 'silent') done(refused(silent(queryId)));
        else done(answer.body as FeedbackOutcome);
      },
      () => done(refused(notKept('Redis is away, through which the frontend that holds the query is asked'))),
    );
  }

  private answer(question: unknown): Promise<FeedbackOutcome> {
    const request = question as FeedbackRequest;
    return new Promise((resolve) => {
      const judgement = this.options.desk.judge(request);
      if (judgement.kind === 'resolved') this.accept(judgement.feedback, resolve);
      else resolve(judgement.outcome);
    });
  }
}

/** Of a query id: what stands before its number. */
function holderOf(queryId: string): string | undefined {
  const end = queryId.lastIndexOf('-');
  return end > 0 ? queryId.slice(0, end) : undefined;
}

function outcomeOf({ selection }: ResolvedFeedback, kept: Kept): FeedbackOutcome {
  if (kept === undefined) {
    return refused(
      notKept(
        'Redis takes nothing at present, and this frontend has no data directory with room to keep it in (--data-dir, --feedback-spool-mib)',
      ),
    );
  }
  return { accepted: true, joined: selection === undefined ? 'queued' : 'query', durable: true };
}

function notKept(why: string): QueryRefusal {
  return { code: 'feedback_not_kept', message: `the feedback is not kept, send it again: ${why}` };
}

function silent(queryId: string): QueryRefusal {
  return {
    code: 'holder_silent',
    field: 'query_id',
    message: `the frontend that answered query '${queryId}' has not said in time whether it has the feedback: send it again, it is learned from once`,
  };
}

function tooLarge(bytes: number): QueryRefusal {
  return {
    code: 'body_too_large',
    message: `feedback with its predictions may take ${MOST_JOB_BYTES} bytes in the queue, this one takes ${bytes}`,
  };
}
