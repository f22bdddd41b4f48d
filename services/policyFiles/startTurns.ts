interface Waiting {
  readonly rank: number;
  readonly go: (leave: () => void) => void;
  readonly leave: () => void;
}

/** Starts of processes, so many at once: of however many that loop, few do so at a time. */
export class StartTurns {
  /** The first is next. */
  private readonly waiting: Waiting[] = [];
  private open = 0;

  constructor(private readonly most: number) {}

  /**
   * @param rank the lower are earlier, equals in order
   * @param go called once it is its turn, at once where there is room, with what is returned
   * @returns ends its turn, or its waiting; to be called once at least
   */
  take(rank: number, go: (leave: () => void) => void): () => void {
    let isOver = false;
    const leave = (): void => {
      if (isOver) return;
      isOver = true;
      const at = this.waiting.indexOf(one);
      if (at < 0) this.endOne();
      else this.waiting.splice(at, 1);
    };
    const one: Waiting = { rank, go, leave };
    if (this.open < this.most) {
      this.open += 1;
      go(leave);
    } else {
      const later = this.waiting.findIndex((other) => other.rank > rank);
      this.waiting.splice(later < 0 ? this.waiting.length : later, 0, one);
    }
    return leave;
  }

  private endOne(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.open -= 1;
    else next.go(next.leave);
  }
}
