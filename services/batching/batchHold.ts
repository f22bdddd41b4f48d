import type { LaunchClass } from '../../containers/protocol/index.js';
import type { Clock } from '../../simulator/time/index.js';
import type { ClassQueue } from './classQueue.js';
import type { InFlight } from './inFlight.js';
import type { WaitForecast } from './waitForecast.js';

/**
 * A batch that would only wait behind another one inside the container leaves when half of that one's service is over:
 * what arrives until then travels in it. Its answer comes no later for it.
 */
const LEAD_SHARE = 0.5;
/** Services shorter than this are not worth a timer. */
const SHORTEST_HOLD_NS = 1e6;
/** No timer is finer; and what is left of a delay is never waited for in ever smaller parts. */
const SHORTEST_DELAY_NS = 50e3;

/** Keeps a batch that is not full back while it gains by that. */
export class BatchHold {
  /** When the timer fires; Infinity when none is set. */
  private untilNs = Infinity;
  private timer = -1;
  /** Whose batch it keeps back. */
  private heldClass: LaunchClass | undefined;
  /** When the first of those who wait for company came; Infinity when nobody waits. */
  private companySinceNs = Infinity;

  /**
   * @param port gets the event `held` when the hold is over.
   * @param delayNs how long a batch may wait for company although its replica is free.
   */
  constructor(
    private readonly clock: Clock,
    private readonly port: string,
    private readonly waiting: ClassQueue,
    private readonly inFlight: InFlight,
    private readonly forecast: WaitForecast,
    private readonly delayNs: number,
  ) {}

  /** Whether what waits should wait on; then a timer is set. */
  hold(limit: number, nowNs: number): boolean {
    if (this.untilNs !== Infinity) this.clock.cancel(this.timer);
    this.untilNs = Infinity;
    if (this.waiting.next.size >= limit) return false;
    const untilNs = Math.max(this.leadUntilNs(nowNs), this.companyUntilNs(nowNs));
    if (untilNs <= nowNs) return false;
    this.untilNs = untilNs;
    this.heldClass = this.waiting.nextClass;
    this.timer = this.clock.schedule(this.port, untilNs, 'held');
    return true;
  }

  /** The timer has fired. */
  onHeld(): void {
    this.untilNs = Infinity;
  }

  /**
   * One more waits.
   * @returns whether a hold goes on: only a batch that is full leaves before its time, one that would be late, and one of a higher
   * class.
   */
  onQueued(limit: number, nowNs: number): boolean {
    if (this.companySinceNs === Infinity) this.companySinceNs = nowNs;
    if (this.untilNs === Infinity || this.waiting.next.size >= limit) return false;
    if (this.waiting.nextClass !== this.heldClass) return false;
    return this.delayNs === 0 || this.latestStartNs(nowNs) >= this.untilNs;
  }

  /** A batch has left. */
  onSent(): void {
    if (this.delayNs > 0) this.companySinceNs = this.waiting.next.first()?.enqueuedNs ?? Infinity;
  }

  private leadUntilNs(nowNs: number): number {
    if (this.inFlight.size === 0 || !this.forecast.known) return nowNs;
    // It would overtake what is there.
    if (this.inFlight.isBelow(this.waiting.nextClass)) return nowNs;
    const oneNs = this.inFlight.estimate.batchNs(this.inFlight.items / this.inFlight.size);
    const aheadNs = this.inFlight.busyNs(nowNs) - LEAD_SHARE * oneNs;
    // The last part of a nanosecond is rounding.
    return oneNs < SHORTEST_HOLD_NS || aheadNs < 1 ? nowNs : nowNs + aheadNs;
  }

  /** Delayed batching (Clipper 4.3.2). */
  private companyUntilNs(nowNs: number): number {
    if (this.delayNs === 0) return nowNs;
    const untilNs = Math.min(this.companySinceNs + this.delayNs, this.latestStartNs(nowNs));
    return untilNs - nowNs < SHORTEST_DELAY_NS ? nowNs : untilNs;
  }

  private latestStartNs(nowNs: number): number {
    const { next } = this.waiting;
    const first = next.first();
    if (first === undefined) return Infinity;
    return this.forecast.latestStartNs(next.size, first.enqueuedNs, first.deadlineNs, nowNs);
  }
}
