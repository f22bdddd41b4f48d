import { withinTime, type RedisConnection } from '../../redis/index.js';
import type { NumberedChange } from './kept.js';
import { numberedChange } from './snapshot.js';
import type { StoreKeys } from './storeKeys.js';

/** How long a read waits for a change; between two reads it is looked whether this is the Redis that we know. */
const BLOCK_MS = 500;
/** A read that is answered so much later has lost its connection. */
const LATE_MS = 3000;
const SLICE = 1000;
const LEAST_PAUSE_MS = 50;
const MOST_PAUSE_MS = 1000;

export interface Followed {
  /** What is followed now; undefined: nothing yet. */
  place(): { readonly epoch: string; readonly seq: number; readonly tip: string } | undefined;
  /** Later changes, without a gap. */
  onChanges(changes: readonly NumberedChange[]): void;
  /** Redis is there, and the image is as it is. */
  onCurrent(): void;
  /** Changes are missing, or this is not what was followed. Following goes on once it is settled. */
  onBreak(kind: 'gap' | 'other'): Promise<void>;
  onFailure(error: unknown): void;
}

/** Reads changes as they are made, for ever. */
export class ChangeFollower {
  private isStopped = false;
  private wake: (() => void) | undefined;
  private pauseMs = LEAST_PAUSE_MS;

  constructor(
    private readonly redis: RedisConnection,
    private readonly keys: StoreKeys,
    private readonly followed: Followed,
  ) {}

  start(): void {
    void this.run();
  }

  stop(): void {
    this.isStopped = true;
    this.wake?.();
    this.redis.disconnect();
  }

  private async run(): Promise<void> {
    while (!this.isStopped) {
      try {
        await this.step();
        this.pauseMs = LEAST_PAUSE_MS;
      } catch (error) {
        if (this.hasStopped()) return;
        this.followed.onFailure(error);
        await this.pause();
      }
    }
  }

  /** Asked again after a wait. */
  private hasStopped(): boolean {
    return this.isStopped;
  }

  private async step(): Promise<void> {
    const place = this.followed.place();
    if (place === undefined) return this.pause();
    const { epoch, seq, tip } = place;
    const stream = this.keys.changes(epoch);
    const read = this.redis.xread('COUNT', SLICE, 'BLOCK', BLOCK_MS, 'STREAMS', stream, `${seq}-0`);
    const found = await this.inTime(read);
    // Somebody has loaded everything meanwhile.
    if (this.followed.place()?.epoch !== epoch || this.followed.place()?.seq !== seq) return;
    if (found === null) {
      const [epochNow, seqNow, behind] = await this.inTime(
        this.redis.hmget(this.keys.meta, 'epoch', 'seq', 'behind'),
      );
      const last = this.followed.place()?.seq ?? 0;
      if (epochNow !== epoch || behind !== null || Number(seqNow) < last) {
        return this.followed.onBreak('other');
      }
      // A change that was made after the read is no gap: the next read brings it.
      if (Number(seqNow) > last && (await this.isMissing(stream, last + 1)))
        return this.followed.onBreak('gap');
      this.followed.onCurrent();
      return;
    }
    const changes = found[0][1].map(([id, fields]) => numberedChange([id, fields]));
    if (changes[0].seq !== seq + 1) return this.followed.onBreak('gap');
    // A Redis that was started from an older state, and written since, has others of the same numbers.
    if (changes[0].before !== tip) return this.followed.onBreak('other');
    this.followed.onChanges(changes);
    this.followed.onCurrent();
  }

  private async isMissing(stream: string, seq: number): Promise<boolean> {
    const found = await this.inTime(this.redis.xrange(stream, `${seq}-0`, `${seq}-0`));
    return found.length === 0;
  }

  /** A connection that says nothing is given up. */
  private async inTime<T>(answer: Promise<T>): Promise<T> {
    let isAnswered = false;
    const seen = answer.finally(() => void (isAnswered = true));
    try {
      return await withinTime(BLOCK_MS + LATE_MS, seen);
    } catch (error) {
      if (!isAnswered && !this.isStopped) this.redis.disconnect(true);
      throw error;
    }
  }

  private pause(): Promise<void> {
    const { pauseMs } = this;
    this.pauseMs = Math.min(2 * pauseMs, MOST_PAUSE_MS);
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pauseMs);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
