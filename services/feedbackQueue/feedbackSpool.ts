import { join } from 'node:path';
import type { Json } from '../../selection/index.js';
import { EmbeddedStore, storeKey, storeKeyParts } from '../store/index.js';
import { bytesOf, isFeedbackJob, type QueuedFeedback } from './feedbackJob.js';

/** Of feedback that waits for Redis, unless the server is told otherwise. */
export const DEFAULT_SPOOL_BYTES = 64 * 1024 * 1024;

const FOLDER = 'spool';

/**
 * Feedback that was accepted while Redis was away, in files of its own beside the data (LMDB): it survives the process.
 * What it holds is delivered under the same ids, so that what Redis has already had is no other feedback.
 */
export class FeedbackSpool {
  private readonly store: EmbeddedStore;
  private readonly sizes = new Map<string, number>();
  private heldBytes = 0;

  /** @throws StoreError */
  constructor(
    dataDirectory: string,
    readonly limitBytes: number,
  ) {
    this.store = new EmbeddedStore(join(dataDirectory, FOLDER));
    for (const { id, bytes } of this.entries(Infinity)) this.count(id, bytes);
  }

  /** Feedback that it holds. */
  get size(): number {
    return this.sizes.size;
  }

  get bytes(): number {
    return this.heldBytes;
  }

  /** Calls back with true once it is on disk, with false when there is no room or the disk takes nothing. */
  add({ id, job, bytes }: QueuedFeedback, done: (isKept: boolean) => void): void {
    if (!this.sizes.has(id) && this.heldBytes + bytes > this.limitBytes) {
      done(false);
      return;
    }
    this.count(id, bytes);
    this.store.set(spoolKey(id), job as unknown as Json, 'any', ({ ok }) => {
      if (!ok) this.forget(id);
      done(ok);
    });
  }

  /** The first so many. */
  first(most: number): readonly QueuedFeedback[] {
    return this.entries(most);
  }

  /** It is with Redis. */
  remove(ids: readonly string[]): void {
    for (const id of ids) {
      this.forget(id);
      this.store.set(spoolKey(id), undefined, 'any');
    }
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.store.close(resolve));
  }

  private entries(most: number): QueuedFeedback[] {
    const found: QueuedFeedback[] = [];
    for (const { key, entry } of this.store.list(`${FOLDER}/`)) {
      if (found.length >= most) break;
      const job: unknown = entry.value;
      if (!isFeedbackJob(job)) continue;
      found.push({ id: storeKeyParts(key)[1], job, bytes: bytesOf(job) });
    }
    return found;
  }

  private count(id: string, bytes: number): void {
    this.forget(id);
    this.sizes.set(id, bytes);
    this.heldBytes += bytes;
  }

  private forget(id: string): void {
    this.heldBytes -= this.sizes.get(id) ?? 0;
    this.sizes.delete(id);
  }
}

function spoolKey(id: string): string {
  return storeKey(FOLDER, id);
}
