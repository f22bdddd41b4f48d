import type { BatchRecord } from '../batching/index.js';
import type { Complaint } from '../errors/index.js';
import type { Query } from '../prediction/index.js';
import { traceDetail } from './traceDetail.js';

const INTERVAL_MS = 10_000;
/** Lines of one model version in an interval: a model that fails on every query must not fill the disk. */
const MOST_LINES = 10;

interface Told {
  sinceMs: number;
  lines: number;
  /** Failures beyond those lines. */
  held: number;
  /** Queries that have failed and whose batch has not been noted yet. */
  queries: number;
}

/**
 * Tells why models fail: a line for each query that one fails on, with its id, application, model and reason, and one for
 * the inputs of a batch that are of no query. Of many it tells some, and with the next one how many there were beside.
 */
export class FailureLog {
  private readonly told = new Map<string, Told>();

  constructor(
    private readonly complain: Complaint,
    private readonly nowMs: () => number,
  ) {}

  noteQuery(
    { id: request, application, traceparent }: Pick<Query, 'id' | 'application' | 'traceparent'>,
    model: string,
    version: string,
    reason: string,
  ): void {
    const told = this.of(model, version);
    told.queries += 1;
    const details = { request, application, model, version, reason, ...traceDetail(traceparent) };
    this.tell(told, 'a model failed on a query', details, 1);
  }

  note({ model, version, replica, failed, traceparent }: BatchRecord, reason: string): void {
    const told = this.of(model, version);
    // Inputs of batch jobs, and of those who ask all models or one by its name.
    const inputs = failed - told.queries;
    told.queries = 0;
    if (inputs <= 0) return;
    const details = { model, version, replica, reason, inputs, ...traceDetail(traceparent) };
    this.tell(told, 'a model failed on inputs', details, inputs);
  }

  /** A model version that is gone. */
  forget(model: string, version: string): void {
    this.told.delete(`${model}:${version}`);
  }

  private of(model: string, version: string): Told {
    const key = `${model}:${version}`;
    let told = this.told.get(key);
    if (told === undefined) {
      told = { sinceMs: this.nowMs(), lines: 0, held: 0, queries: 0 };
      this.told.set(key, told);
    }
    return told;
  }

  private tell(told: Told, message: string, details: object, failures: number): void {
    const nowMs = this.nowMs();
    if (nowMs - told.sinceMs >= INTERVAL_MS) {
      told.sinceMs = nowMs;
      told.lines = 0;
    }
    if (told.lines === MOST_LINES) {
      told.held += failures;
      return;
    }
    told.lines += 1;
    this.complain(message, { ...details, ...(told.held === 0 ? {} : { untold: told.held }) });
    told.held = 0;
  }
}
