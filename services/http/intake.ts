/** Of each turn of the event loop, the bytes of bodies that are read: some milliseconds of copying. */
const TURN_BYTES = 256 * 1024;

/** Of those that wait, how many are read from again in a turn: each may bring 64 KiB. */
const RESUMED = 4;

/** Whatever bytes come from. */
export interface IntakeSource {
  pause(): void;
  resume(): void;
}

/**
 * Shares the reading of bodies out over turns: Node reads up to 2 MiB of every connection in one, and with many large
 * bodies all others would wait for it.
 */
export class Intake {
  private taken = 0;
  private isTurning = false;
  private readonly waiting = new Set<IntakeSource>();

  /** Bytes came. Where the turn has had enough, their source is paused, and resumed in a later turn. */
  count(bytes: number, source: IntakeSource): void {
    this.taken += bytes;
    if (this.taken > TURN_BYTES && !this.waiting.has(source)) {
      source.pause();
      this.waiting.add(source);
    }
    if (this.isTurning) return;
    this.isTurning = true;
    setImmediate(this.turn);
  }

  /** It is done with. */
  forget(source: IntakeSource): void {
    this.waiting.delete(source);
  }

  private readonly turn = (): void => {
    this.taken = 0;
    this.isTurning = this.waiting.size > 0;
    if (this.isTurning) setImmediate(this.turn);
    let resumed = 0;
    for (const source of this.waiting) {
      this.waiting.delete(source);
      source.resume();
      resumed += 1;
      if (resumed === RESUMED) break;
    }
  };
}

/** Of the process: all interfaces read on the same thread. */
export const INTAKE = new Intake();
