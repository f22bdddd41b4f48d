import type { Clock, EventSink } from '../../simulator/time/index.js';
import type { HangPatience } from './hangPatience.js';
import type { InFlight } from './inFlight.js';

/** When a replica that answers nothing counts as lost. */
export interface HangLimits {
  /** A batch may always take so long. */
  readonly minimumMs: number;
  /**
   * And so long where its container shares a thread with others. A model that starts holds that up for a tenth of a second,
   * since it is loaded and compiled elsewhere; a kernel that never ends until its fuel is spent, which is a second at most for
   * common instructions and some four for the slowest (sin.approx alone).
   */
  readonly sharedThreadMs: number;
  /** And so many times what the longest batches of late have taken. */
  readonly factor: number;
  /** The first replica of a model may take so long for its first batch: nobody knows how slow the model is. */
  readonly firstAnswerMs: number;
}

export const DEFAULT_HANG_LIMITS: HangLimits = {
  minimumMs: 1000,
  sharedThreadMs: 6000,
  factor: 8,
  firstAnswerMs: 60_000,
};

/** An answer that is on its way already arrives within this time: a process that was paused has one to read. */
const GRACE_NS = 250e6;
const SHORTEST_LOOK_NS = 1e6;
/** Later than this, the process itself was not running: the silence says nothing about the replica. */
const PAUSE_NS = 100e6;

/**
 * Watches one replica for silence. One timer for all batches, set by the first and set again only when it has fired, so
 * that a busy replica costs an event a second and a batch costs nothing.
 */
export class HangWatchdog implements EventSink {
  private isSet = false;
  /** The batch that was overdue at the last look. */
  private overdueId = -1;

  /**
   * @param port the watchdog's name on the clock.
   * @param patience the model's: a factor on what is allowed that grows while replicas of the same model are lost one after the other.
   * @param onHung must take the replica out of use, and close the watchdog.
   */
  constructor(
    private readonly clock: Clock,
    private readonly port: string,
    private readonly inFlight: InFlight,
    private readonly limits: HangLimits,
    private readonly patience: HangPatience,
    private readonly onHung: (reason: string) => void,
  ) {
    clock.attach(port, this);
  }

  /** A batch was sent. */
  onSent(nowNs: number): void {
    if (!this.isSet) this.look(nowNs, this.allowedNs(nowNs));
  }

  close(): void {
    this.clock.detach(this.port);
  }

  onEvent(_kind: string, _payload: unknown, nowNs: number): void {
    this.isSet = false;
    const oldest = this.inFlight.oldest();
    if (oldest === undefined) return;
    const allowedNs = this.allowedNs(nowNs);
    const silentNs = this.inFlight.silentNs(nowNs);
    const behindNs = this.clock.behindNs();
    if (silentNs < allowedNs) {
      this.look(nowNs, allowedNs - silentNs);
    } else if (behindNs > PAUSE_NS) {
      this.overdueId = -1;
      this.look(nowNs + behindNs, allowedNs);
    } else if (this.overdueId !== oldest.id) {
      this.overdueId = oldest.id;
      this.look(nowNs + behindNs, GRACE_NS);
    } else {
      this.patience.onHang(nowNs);
      const seconds = (ns: number): string => `${(ns / 1e9).toFixed(2)} s`;
      this.onHung(
        `it hangs: no answer to a batch of ${oldest.items.length} for ${seconds(silentNs)}, where ${seconds(allowedNs)} is the longest that is waited`,
      );
    }
  }

  /** Looks again in `afterNs` at the latest: what is allowed may have become less by then. */
  private look(nowNs: number, afterNs: number): void {
    this.isSet = true;
    // Never less than a while: the last part of a nanosecond is rounding, and would be looked at for ever.
    const waitNs = Math.max(SHORTEST_LOOK_NS, Math.min(afterNs, this.limits.minimumMs * 1e6));
    this.clock.schedule(this.port, nowNs + waitNs, 'look');
  }

  private allowedNs(nowNs: number): number {
    const { past, elsewhere } = this.inFlight;
    const { minimumMs, factor, firstAnswerMs } = this.limits;
    const size = this.inFlight.oldest()?.items.length ?? 1;
    if (past.known) {
      return Math.max(minimumMs * 1e6, factor * past.longestNs(size)) * this.patience.now(nowNs);
    }
    if (!elsewhere.known) return firstAnswerMs * 1e6;
    const allowedNs =
      this.patience.freshFactor * Math.max(minimumMs * 1e6, factor * elsewhere.longestNs(size));
    return Math.min(firstAnswerMs * 1e6, allowedNs * this.patience.now(nowNs));
  }
}
