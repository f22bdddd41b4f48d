import { TURNS, type LongTask } from '../../json/index.js';

/** Messages of all connections that are read in one turn of the event loop as they come. */
const AT_ONCE = 32;

/** What a message weighs beside its bytes. */
const MESSAGE_BYTES = 1024;

/** Of one step: some 0.1 ms. */
const STEP_BYTES = 8 * MESSAGE_BYTES;

/** Of the process. */
class TurnOfMessages {
  private bytes = 0;

  /** Whether the turn has room for one more. */
  admits(bytes: number): boolean {
    if (this.bytes === 0) setImmediate(this.next);
    this.bytes += MESSAGE_BYTES + bytes;
    return this.bytes <= AT_ONCE * MESSAGE_BYTES;
  }

  private readonly next = (): void => {
    this.bytes = 0;
  };
}

const TURN = new TurnOfMessages();

export interface InboxOwner {
  /** Another message may be read now. */
  readonly isReady: boolean;
  onMessageRead(data: Buffer, isBinary: boolean): void;
  /** None waits any more. */
  onInboxEmpty(): void;
}

interface Unread {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

/**
 * Messages of a connection on their way to be read, in their order. A packet may bring thousands: what is more than a few
 * in a turn of the event loop is read in slices, between which others are served, and while nothing may be read waits here.
 */
export class Inbox implements LongTask {
  private readonly unread: Unread[] = [];
  private bytes = 0;
  private isQueued = false;

  constructor(private readonly owner: InboxOwner) {}

  /** Messages that wait. */
  get size(): number {
    return this.unread.length;
  }

  get remaining(): number {
    return this.bytes;
  }

  /** Reads it at once, or lets it wait until `goOn`. */
  take(data: Buffer, isBinary: boolean): void {
    if (this.unread.length === 0 && this.owner.isReady && TURN.admits(data.length)) {
      this.owner.onMessageRead(data, isBinary);
      return;
    }
    this.unread.push({ data, isBinary });
    this.bytes += data.length;
  }

  /** Something may have changed: what waits is read if it may. */
  goOn(): void {
    if (this.isQueued || this.unread.length === 0 || !this.owner.isReady) return;
    this.isQueued = true;
    TURNS.run(this);
  }

  clear(): void {
    this.unread.length = 0;
    this.bytes = 0;
  }

  step(): boolean {
    let spent = 0;
    while (spent < STEP_BYTES && this.owner.isReady) {
      const next = this.unread.shift();
      if (next === undefined) break;
      this.bytes -= next.data.length;
      spent += MESSAGE_BYTES + next.data.length;
      this.owner.onMessageRead(next.data, next.isBinary);
    }
    if (this.unread.length > 0 && this.owner.isReady) return false;
    this.isQueued = false;
    if (this.unread.length === 0) this.owner.onInboxEmpty();
    return true;
  }
}
