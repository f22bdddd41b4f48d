import { READING } from './reading.js';

/** Of each turn of the event loop, the bytes of bodies that are read: some milliseconds of copying. */
const TURN_BYTES = 256 * 1024;

/** What comes in a chunk of its own costs as much as so many bytes more. */
const CHUNK_BYTES = 256;

/** From here on a turn takes so long that in it nobody is read any more: a packet of small chunks. */
const MOST_BYTES = 2 * TURN_BYTES;

/** What all others have to themselves behind a turn that took so long. */
const REST_MS = 10;

/** Of those that wait, how many are read from again in a turn: each may bring 64 KiB. */
const RESUMED = 4;

/** Whatever bytes come from. */
export interface IntakeSource {
  pause(): void;
  resume(): void;
}

/**
 * Shares the reading of bodies out over turns: Node reads up to 2 MiB of every connection in one, and with many large
 * bodies, or bodies of many chunks, all others would wait for it.
 */
export class Intake {
  private taken = 0;
  private resumed = RESUMED;
  private isTurning = false;
  /** Those that may have something ready to be read. */
  private readonly open = new Set<IntakeSource>();
  private readonly waiting = new Set<IntakeSource>();

  /** @param halt stops the reading of all connections until the next turn */
  constructor(private readonly halt: () => void) {}

  /** Bytes came. Where the turn has had enough, whatever else would be read in it is paused, and resumed in a later turn. */
  count(bytes: number, source: IntakeSource): void {
    const before = this.taken;
    this.taken += bytes + CHUNK_BYTES;
    if (this.taken > TURN_BYTES) {
      if (before <= TURN_BYTES) for (const other of this.open) this.hold(other);
      this.hold(source);
      if (before <= MOST_BYTES && this.taken > MOST_BYTES) this.halt();
    } else if (!this.waiting.has(source)) this.open.add(source);
    if (this.isTurning) return;
    this.isTurning = true;
    setImmediate(this.turn);
  }

  /** Its body has come. If it waits, it goes on waiting: the next body of the same connection is no better. */
  forget(source: IntakeSource): void {
    this.open.delete(source);
  }

  private hold(source: IntakeSource): void {
    if (this.waiting.has(source)) return;
    this.open.delete(source);
    this.waiting.add(source);
    source.pause();
  }

  private readonly turn = (): void => {
    // A packet may hold thousands of chunks: after a turn that took too long others have time of their own, then fewer come.
    const wasLong = this.taken > MOST_BYTES;
    this.resumed = wasLong ? 0 : Math.min(RESUMED, this.resumed + 1);
    this.taken = 0;
    this.isTurning = wasLong || this.waiting.size > 0;
    if (wasLong) setTimeout(this.turn, REST_MS);
    else if (this.isTurning) setImmediate(this.turn);
    let resumed = 0;
    for (const source of this.waiting) {
      if (resumed >= this.resumed) break;
      this.waiting.delete(source);
      source.resume();
      resumed += 1;
    }
  };
}

/** Of the process: all interfaces read on the same thread. */
export const INTAKE = new Intake(() => READING.halt());
