/** Of each turn of the event loop, milliseconds that long tasks take together: what others wait more. */
const TURN_MS = 4;

/** Of so many steps one is of the task that waits longest: short ones that never end keep nobody from going on. */
const STEPS_FOR_OLDEST = 4;

/** Something long that is done in steps. */
export interface LongTask {
  /** About how much is left, in bytes of what the client sent: the shortest is done first, and the others now and then. */
  readonly remaining: number;
  /** Does some 0.2 ms of it. @returns whether that was the last of it; must not throw */
  step(): boolean;
}

/**
 * Shares the serving thread between what is long (large bodies, large batches) and all the rest. All long tasks of the
 * process together get a slice of each turn; whatever is asked meanwhile is answered between the turns.
 */
export class Turns {
  private readonly waiting: LongTask[] = [];
  private spentMs = 0;
  private steps = 0;
  private isTurning = false;

  /** Tasks that are not done. */
  get size(): number {
    return this.waiting.length;
  }

  /** Does the task: at once where the turn has room for it and nothing shorter waits, else in turns to come. */
  run(task: LongTask): void {
    if (this.waiting.length > 0 || this.spentMs >= TURN_MS) {
      this.waiting.push(task);
      this.turnSoon();
      return;
    }
    const startMs = performance.now();
    let isDone = task.step();
    while (!isDone && this.spentMs + performance.now() - startMs < TURN_MS) isDone = task.step();
    this.spentMs += performance.now() - startMs;
    if (!isDone) this.waiting.push(task);
    this.turnSoon();
  }

  private turnSoon(): void {
    if (this.isTurning) return;
    this.isTurning = true;
    setImmediate(this.turn);
  }

  private readonly turn = (): void => {
    this.isTurning = false;
    this.spentMs = 0;
    const startMs = performance.now();
    const hadWork = this.waiting.length > 0;
    while (this.waiting.length > 0 && performance.now() - startMs < TURN_MS) {
      this.steps = (this.steps + 1) % STEPS_FOR_OLDEST;
      const at = this.steps === 0 ? 0 : this.shortest();
      const task = this.waiting[at];
      // A step may run further tasks, which see that this one waits.
      if (task.step()) this.waiting.splice(this.waiting.indexOf(task), 1);
    }
    this.spentMs = performance.now() - startMs;
    // Once more at the end: the next turn owes nothing to this one.
    if (hadWork) this.turnSoon();
    else this.spentMs = 0;
  };

  private shortest(): number {
    let found = 0;
    for (let at = 1; at < this.waiting.length; at++) {
      if (this.waiting[at].remaining < this.waiting[found].remaining) found = at;
    }
    return found;
  }
}

/** Of the process: every interface takes its share of the same thread. */
export const TURNS = new Turns();
