/** How many lines may be under way where nobody else asks. */
const MOST_AT_ONCE = 64;
/** While others ask, one line in this time: a job goes on, and one in hundreds of theirs may feel it. */
const TRICKLE_MS = 1000;
const LOOK_EVERY_MS = 10;
/** Others who ask again within so long have not stopped. */
const QUIET_AFTER_MS = 50;

export interface SpareRoomOptions {
  /** Queries of others that ask models which lines of this application ask, too. */
  readonly others: (application: string) => OthersLoad;
}

export interface OthersLoad {
  readonly inFlight: number;
  /** So far. */
  readonly taken: number;
}

interface Waiting {
  readonly go: () => void;
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

  constructor(seen: number) {
    this.seen = seen;
  }
}

/**
 * Lines of jobs fill what queries of others leave: while others ask, nothing but a trickle is under way; once they have been quiet
 * for a moment, twice as many lines as at the last look.
 */
export class SpareRoom {
  private readonly shares = new Map<string, Share>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: SpareRoomOptions) {}

  /** Calls `go` when there is room for a line; it must be followed by `done`. */
  ask(application: string, go: () => void): void {
    let share = this.shares.get(application);
    if (share === undefined) {
      share = new Share(this.options.others(application).taken);
      this.shares.set(application, share);
    }
    share.waiting.push({ go });
    this.timer ??= setInterval(() => this.look(), LOOK_EVERY_MS);
    this.fill(share);
  }

  done(application: string): void {
    const share = this.shares.get(application);
    if (share === undefined) return;
    share.under -= 1;
    this.fill(share);
  }

  /** Whoever waits goes at once, and is expected to ask nothing. */
  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    const waiting = [...this.shares.values()].flatMap((share) => share.waiting.splice(0));
    this.shares.clear();
    for (const { go } of waiting) go();
  }

  private look(): void {
    const nowMs = performance.now();
    for (const [application, share] of this.shares) {
      const { inFlight, taken } = this.options.others(application);
      if (inFlight > 0 || taken !== share.seen) share.lastBusyMs = nowMs;
      share.seen = taken;
      const isBusy = nowMs - share.lastBusyMs < QUIET_AFTER_MS;
      share.allowed = isBusy ? 0 : Math.min(MOST_AT_ONCE, Math.max(1, share.allowed * 2));
      if (isBusy && share.under === 0 && nowMs - share.lastTrickleMs > TRICKLE_MS) {
        share.lastTrickleMs = nowMs;
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
    const next = share.waiting.shift();
    if (next === undefined) return;
    share.under += 1;
    next.go();
  }
}
