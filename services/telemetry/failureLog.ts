import type { BatchRecord } from '../batching/index.js';
import type { Complaint } from '../errors/index.js';
import { traceDetail } from './traceDetail.js';

/** How often one model version's failures are told: a model that fails on every query must not fill the disk. */
const INTERVAL_MS = 10_000;

interface Told {
  atMs: number;
  /** Inputs that failed since then and were not told. */
  held: number;
}

/** Tells why models fail on inputs: the first failure at once, then one line an interval with how many there were. */
export class FailureLog {
  private readonly told = new Map<string, Told>();

  constructor(
    private readonly complain: Complaint,
    private readonly nowMs: () => number,
  ) {}

  note({ model, version, replica, failed, traceparent }: BatchRecord, reason: string): void {
    const key = `${model}:${version}`;
    const last = this.told.get(key);
    const atMs = this.nowMs();
    if (last !== undefined && atMs - last.atMs < INTERVAL_MS) {
      last.held += failed;
      return;
    }
    this.complain('a model failed on inputs', {
      model,
      version,
      replica,
      reason,
      inputs: failed + (last?.held ?? 0),
      ...traceDetail(traceparent),
    });
    this.told.set(key, { atMs, held: 0 });
  }

  /** A model version that is gone. */
  forget(model: string, version: string): void {
    this.told.delete(`${model}:${version}`);
  }
}
