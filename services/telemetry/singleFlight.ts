/** Of those who wait, how many are answered in a turn of the event loop. */
const ANSWERED_IN_TURN = 8;

/**
 * Work that is dear and whose result many may have: it is done once at a time, and all who ask while it is done get what
 * is made next. Nobody gets what was begun before they asked; they are answered in turns.
 */
export class SingleFlight<T> {
  private isMaking = false;
  private waiting: ((made: T | Promise<T>) => void)[] = [];

  constructor(private readonly make: () => Promise<T>) {}

  /** @returns what `make` gives, begun now or later. */
  next(): Promise<T> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      if (!this.isMaking) this.begin();
    });
  }

  private begin(): void {
    const { waiting } = this;
    this.waiting = [];
    this.isMaking = true;
    const made = this.make();
    const done = () => this.give(made, waiting, 0);
    made.then(done, done);
  }

  private give(made: Promise<T>, waiting: readonly ((made: Promise<T>) => void)[], from: number): void {
    const end = Math.min(from + ANSWERED_IN_TURN, waiting.length);
    for (let at = from; at < end; at++) waiting[at](made);
    if (end < waiting.length) setImmediate(() => this.give(made, waiting, end));
    else {
      this.isMaking = false;
      if (this.waiting.length > 0) this.begin();
    }
  }
}
