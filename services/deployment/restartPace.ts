/** How long a lost replica waits before it is started again: doubled with each loss, forgotten once it has stayed up. */
export interface BackOff {
  readonly firstMs: number;
  readonly longestMs: number;
  /** Up for so long, it starts with `firstMs` again. */
  readonly forgivenAfterMs: number;
}

export const DEFAULT_BACK_OFF: BackOff = { firstMs: 200, longestMs: 30_000, forgivenAfterMs: 60_000 };

/** A replica's life, from its start to its loss. */
export interface ReplicaLife {
  /** From its start until it served; undefined for one that never did. */
  readonly startMs: number | undefined;
  /** For how long it served. */
  readonly upMs: number;
  /** It has answered something that it was asked. */
  readonly hasAnswered: boolean;
}

/** Says how long a lost replica waits before its next start. */
export interface RestartPace {
  /** @returns milliseconds. */
  afterLoss(life: ReplicaLife): number;
}

/** What has served for so long is started again at once. */
const SERVED_MS = 1000;
/** One that answers something each time waits no longer than so many times the first delay. */
const MOST_FOR_SERVING = 8;

/** Of replicas that everybody waits for. */
export class BackOffPace implements RestartPace {
  private delayMs: number;

  constructor(private readonly backOff: BackOff) {
    this.delayMs = backOff.firstMs;
  }

  afterLoss({ upMs, hasAnswered }: ReplicaLife): number {
    const { firstMs, longestMs, forgivenAfterMs } = this.backOff;
    if (upMs >= forgivenAfterMs) this.delayMs = firstMs;
    if (hasAnswered && upMs >= SERVED_MS) {
      this.delayMs = firstMs;
      return 0;
    }
    const delayMs = hasAnswered ? Math.min(this.delayMs, MOST_FOR_SERVING * firstMs) : this.delayMs;
    this.delayMs = Math.min(this.delayMs * 2, longestMs);
    return delayMs;
  }
}

/** Of one that tries suspects: how long it rests for each time that its start takes, and how long where it answers nothing time after time. */
const LEAST_REST = 0.5;
const LONGEST_REST = 2;

/**
 * Of a replica that tries what takes replicas down, and so is lost again and again: it may be starting most of the time as long as
 * it answers something in between, and less otherwise.
 */
export class TrialPace implements RestartPace {
  private rest = LEAST_REST;

  constructor(private readonly backOff: BackOff) {}

  afterLoss({ startMs, hasAnswered }: ReplicaLife): number {
    this.rest = hasAnswered ? LEAST_REST : Math.min(LONGEST_REST, 2 * this.rest);
    const { firstMs, longestMs } = this.backOff;
    return Math.min(longestMs, this.rest * (startMs ?? firstMs));
  }
}
