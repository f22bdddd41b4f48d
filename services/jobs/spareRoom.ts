/** How many lines may be under way where nobody else asks. */
const MOST_AT_ONCE = 64;
/** While others ask, one line in this time: a job goes on, and one in hundreds of theirs may feel it, */
const TRICKLE_MS = 1000;
/** however long a line takes: it waits so many times that. */
const TRICKLE_SHARE = 200;
const LOOK_EVERY_MS = 10;
/** Others who ask again within so long have not stopped, */
const QUIET_AFTER_MS = 50;
/** nor within so many times the longest of late that they were quiet and asked again: whoever comes first after a quiet finds lines under way. */
const QUIET_FACTOR = 2;
/** But after so long they have. */
const LONGEST_QUIET_MS = 10_000;
/** What is left of the longest quiet with each query of others: some hundred of them count. */
const QUIET_MEMORY = 0.99;

export interface SpareRoomOptions {
  /** Queries of others that ask models which lines of this application ask, too. */
  readonly others: (application: string) => OthersLoad;
}

export interface OthersLoad {
  readonly inFlight: number;
  /** So far. */
  readonly taken: number;
  /** Processes whose jobs ask the same models, this one among them: they share the room. 1 unless given. */
  readonly sharers?: number;
}

interface Waiting {
  readonly go: () => void;
  isWithdrawn: boolean;
}

/** The share of one application's models that its jobs may have. */
class Share {
  allowed = 0;
  under = 0;
  readonly waiting: Waiting[] = [];
  /** A line may be answered before its `go` returns: whoever fills goes on then, and no call within the call. */
  isFilling = false;
  /** What others had asked at the last look. */
  seen: number;
  lastBusyMs = -Infinity;
  lastTrickleMs = -Infinity;
  /** The line that was let through while others ask is not answered yet. */
  isTrickling = false;
  /** Until the next such line. */
  trickleMs = TRICKLE_MS;
  private longestQuietMs = 0;

  constructor(seen: number) {
    this.seen = seen;
  }

  /** Others have asked so many more. */
  onAsked(count: number, nowMs: number): void {
    const quietMs = this.lastBusyMs === -Infinity ? 0 : nowMs - this.lastBusyMs;
    const before = this.longestQuietMs * QUIET_MEMORY ** count;
    this.longestQuietMs = Math.min(LONGEST_QUIET_MS, Math.max(quietMs, before));
  }

  /** For how long others must be quiet to have stopped. */
  get quietAfterMs(): number {
    return Math.min(LONGEST_QUIET_MS, Math.max(QUIET_AFTER_MS, QUIET_FACTOR * this.longestQuietMs));
  }
}

/**
 * Lines of jobs fill what queries of others leave: while others ask, nothing but a trickle is under way; once they have been quiet
 * for longer than they usually are between two queries, twice as many lines as at the last look.
 */
export class SpareRoom {
  private readonly shares = new Map<string, Share>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: SpareRoomOptions) {}

  /**
   * Calls `go` when there is room for a line; it must be followed by `done`.
   * @returns what withdraws it, unless it has been called
   */
  ask(application: string, go: () => void): () => void {
    let share = this.shares.get(application);
    if (share === undefined) {
      share = new Share(this.options.others(application).taken);
      this.shares.set(application, share);
    }
    const one: Waiting = { go, isWithdrawn: false };
    share.waiting.push(one);
    this.timer ??= setInterval(() => this.look(), LOOK_EVERY_MS);
    this.fill(share);
    return () => {
      one.isWithdrawn = true;
    };
  }

  /** Of which lines are under way, or wait. */
  applications(): readonly string[] {
    return [...this.shares.keys()];
  }

  done(application: string): void {
    const share = this.shares.get(application);
    if (share === undefined) return;
    share.under -= 1;
    if (share.isTrickling && share.under === 0) {
      share.isTrickling = false;
      share.trickleMs = Math.max(TRICKLE_MS, TRICKLE_SHARE * (performance.now() - share.lastTrickleMs));
    }
    this.fill(share);
  }

  /** Whoever waits goes at once, and is expected to ask nothing. */
  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    const waiting = [...this.shares.values()].flatMap((share) => share.waiting.splice(0));
    this.shares.clear();
    for (const { go, isWithdrawn } of waiting) if (!isWithdrawn) go();
  }

  private look(): void {
    const nowMs = performance.now();
    for (const [application, share] of this.shares) {
      const { inFlight, taken, sharers = 1 } = this.options.others(application);
      if (taken !== share.seen) share.onAsked(taken - share.seen, nowMs);
      if (inFlight > 0 || taken !== share.seen) share.lastBusyMs = nowMs;
      share.seen = taken;
      const isBusy = nowMs - share.lastBusyMs < share.quietAfterMs;
      share.allowed = isBusy
        ? 0
        : Math.max(1, Math.min(Math.floor(MOST_AT_ONCE / sharers), share.allowed * 2));
      if (isBusy && share.under === 0 && nowMs - share.lastTrickleMs > share.trickleMs * sharers) {
        share.lastTrickleMs = nowMs;
        share.isTrickling = true;
        this.start(share);
      }
      this.fill(share);
      if (share.under === 0 && share.waiting.length === 0) this.shares.delete(application);
    }
    if (this.shares.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private fill(share: Share): void {
    if (share.isFilling) return;
    share.isFilling = true;
    while (share.under < share.allowed && share.waiting.length > 0) this.start(share);
    share.isFilling = false;
  }

  private start(share: Share): void {
    let next = share.waiting.shift();
    while (next?.isWithdrawn === true) next = share.waiting.shift();
    if (next === undefined) return;
    share.under += 1;
    next.go();
  }
}
