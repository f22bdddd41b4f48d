import {
  ClientError,
  RefusedError,
  TimeoutError,
  UnreachableError,
  type HttpCalls,
} from '../client/index.js';
import { BatchJobError } from './batchJobError.js';
import { jobLines, openInput, type JobBody, type JobLine } from './jobInput.js';
import { JobOutput, type Existing, type LineResult } from './jobOutput.js';

export interface BatchProgress {
  /** Answered in this run. */
  readonly answered: number;
  /** That have an error in place of an answer. */
  readonly failed: number;
  /** Answered by an earlier run. */
  readonly kept: number;
  /** Requests that were sent again. */
  readonly retries: number;
}

export interface BatchJobResult extends BatchProgress {
  /** Ended early by the signal: what has no answer was not asked. */
  readonly isStopped: boolean;
}

export interface BatchJobOptions {
  readonly application: string;
  readonly input: string;
  readonly output: string;
  readonly existing: Existing;
  /** Queries that are under way at a time. */
  readonly concurrency: number;
  /** Further tries of a query that the server has no room or time for. */
  readonly retries: number;
  readonly timeoutMs: number;
  /** `critical`, `standard` or `bestEffort`: of the queries' kernels. */
  readonly launchClass: string;
  readonly calls: HttpCalls;
  /** After it no further line is asked; those under way are waited for a moment. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: BatchProgress) => void;
  /** Waits; for tests. */
  readonly sleep?: (ms: number) => Promise<void>;
}

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 10_000;
/** Whoever stops a job does not wait longer for what is under way. */
const LAST_ANSWERS_MS = 1000;

/**
 * Asks an application for a prediction of every line of a file and writes the answers to another, in the order in which they
 * come. Queries are strict: a line gets its models' answer or an error, never the default output. Rejects with a BatchJobError
 * when the server is gone; what has been answered is in the file, and another run may go on.
 */
export async function runBatchJob(options: BatchJobOptions): Promise<BatchJobResult> {
  const input = await openInput(options.input);
  try {
    const output = new JobOutput(options.output, options.existing);
    try {
      return await new BatchJob(options, output).run(jobLines(input));
    } finally {
      output.close();
    }
  } finally {
    await input.close();
  }
}

class BatchJob {
  private readonly counts = { answered: 0, failed: 0, kept: 0, retries: 0 };
  private failure: Error | undefined;
  /** What is under way is waited for no longer. */
  private readonly givenUp = new AbortController();
  private readonly stopped: Promise<void>;

  constructor(
    private readonly options: BatchJobOptions,
    private readonly output: JobOutput,
  ) {
    const { signal } = options;
    this.stopped = new Promise((resolve) => {
      const stop = (): void => {
        resolve();
        setTimeout(() => this.givenUp.abort(), LAST_ANSWERS_MS).unref();
      };
      if (signal?.aborted === true) stop();
      else signal?.addEventListener('abort', stop, { once: true });
    });
  }

  async run(lines: AsyncGenerator<JobLine>): Promise<BatchJobResult> {
    // All take from one generator: each line goes to whoever is free.
    await Promise.all(Array.from({ length: this.options.concurrency }, () => this.work(lines)));
    await lines.return(undefined);
    if (this.failure !== undefined) throw this.failure;
    return { ...this.counts, isStopped: this.options.signal?.aborted === true };
  }

  private async work(lines: AsyncGenerator<JobLine>): Promise<void> {
    try {
      while (!this.isOver()) {
        const next = await lines.next();
        if (next.done === true) return;
        const line = next.value;
        if (this.output.has(line)) this.counts.kept += 1;
        else if (!this.isOver()) await this.answer(line);
      }
    } catch (error) {
      this.failure ??= error instanceof Error ? error : new Error(String(error));
    }
  }

  private isOver(): boolean {
    return this.failure !== undefined || this.options.signal?.aborted === true;
  }

  private async answer(line: JobLine): Promise<void> {
    const result = await this.resultOf(line);
    if (result === undefined) return;
    this.output.write(line, result);
    if ('error' in result) this.counts.failed += 1;
    else this.counts.answered += 1;
    this.options.onProgress?.(this.counts);
  }

  /** Undefined: the job was stopped before it was known. */
  private async resultOf({ body, problem }: JobLine): Promise<LineResult | undefined> {
    const { application, calls, launchClass, timeoutMs, retries, sleep = later } = this.options;
    if (body === undefined) return { error: { code: 'invalid_line', message: problem } };
    const path = `/${encodeURIComponent(application)}/predict`;
    for (let tries = 0; ; tries++) {
      try {
        return (await calls.post(
          path,
          { launch_class: launchClass, ...body, strict: true },
          { timeoutMs, signal: this.givenUp.signal },
        )) as LineResult;
      } catch (error) {
        if (this.givenUp.signal.aborted) return undefined;
        // Nested deeper than what is written as JSON.
        if (error instanceof RangeError) return { error: { code: 'invalid_line', message: error.message } };
        if (!(error instanceof ClientError)) throw error;
        if (tries < retries && isPassing(error) && !this.isOver()) {
          this.counts.retries += 1;
          await Promise.race([sleep(waitMs(error, tries)), this.stopped]);
          continue;
        }
        if (this.isOver()) return undefined;
        if (error instanceof RefusedError && !isOfJob(error, body)) return { error: errorOf(error) };
        if (error instanceof TimeoutError) return { error: errorOf(error) };
        throw new BatchJobError('stopped', error.message, { cause: error });
      }
    }
  }
}

/** Whether the same request may go well a little later. */
function isPassing(error: ClientError): boolean {
  if (error instanceof RefusedError) {
    if (error.code === 'default_low_confidence') return false;
    return error.status === 429 || error.status === 503 || error.status === 504;
  }
  return error instanceof UnreachableError || error instanceof TimeoutError;
}

/** Refusals that every line would meet: not those of something that this line asks for by itself, such as a version. */
function isOfJob({ status, field }: RefusedError, body: JobBody): boolean {
  if (field !== undefined && Object.hasOwn(body, field)) return false;
  return status === 401 || status === 403 || status === 404 || field === 'launch_class';
}

function waitMs(error: ClientError, tries: number): number {
  const told = error instanceof RefusedError ? (error.retryAfterMs ?? 0) : 0;
  return Math.min(LONGEST_WAIT_MS, Math.max(told, FIRST_WAIT_MS * 2 ** tries));
}

function errorOf(error: ClientError): LineResult {
  const field = error instanceof RefusedError ? error.field : undefined;
  return { code: error.code, message: error.message, ...(field === undefined ? {} : { field }) };
}

function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
