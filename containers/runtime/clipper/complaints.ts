/** What is told a person: a sentence that is the same each time, and what it is about. */
export type Tell = (message: string, details: Readonly<Record<string, unknown>>) => void;

const TOLD_EVERY_MS = 10_000;

/** Of each kind of complaint one in ten seconds is told, with how many were not: whoever makes them is anybody. */
export class Complaints {
  private readonly kinds = new Map<string, { toldMs: number; untold: number }>();

  constructor(
    private readonly tell: Tell,
    private readonly nowMs: () => number,
  ) {}

  /** @param key of its kind, one of few. */
  complain(message: string, details: Readonly<Record<string, unknown>>, key = message): void {
    const nowMs = this.nowMs();
    const kind = this.kinds.get(key);
    if (kind !== undefined && nowMs - kind.toldMs < TOLD_EVERY_MS) {
      kind.untold += 1;
      return;
    }
    const untold = kind?.untold ?? 0;
    this.kinds.set(key, { toldMs: nowMs, untold: 0 });
    this.tell(message, untold === 0 ? details : { ...details, untold });
  }
}
