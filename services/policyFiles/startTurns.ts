interface Waiting {
  readonly rank: number;
  readonly go: () => void;
}

/** Starts of processes, so many at once: of however many that loop, few do so at a time. */
export class StartTurns {
  /** The first is next. */
  private readonly waiting: Waiting[] = [];
  private open = 0;

  constructor(private readonly most: number) {}

  /**
   * @param rank the lower are earlier, equals in order
   * @param go called once it is its turn, at once where there is room
   * @returns ends its turn, or its waiting; to be called once at least
   */
  take(rank: number, go: () => void): () => void {
    const one: Waiting = { rank, go };
    if (this.open < this.most) {
      this.open += 1;
      go();
    } else {
      const later = this.waiting.findIndex((other) => other.rank > rank);
      this.waiting.splice(later < 0 ? this.waiting.length : later, 0, one);
    }
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const at = this.waiting.indexOf(one);
      if (at < 0) this.endOne();
      else this.waiting.splice(at, 1);
    };
  }

  private endOne(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.open -= 1;
    else next.go();
  }
}
