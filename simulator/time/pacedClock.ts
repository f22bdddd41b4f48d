import type { Clock, EventPayload, EventSink } from './clock.js';
import { VirtualClock } from './virtualClock.js';

export interface PacedClockOptions {
  /**
   * How closely events follow the wall. An event due within it is awaited by polling the event loop, which burns a
   * core meanwhile; anything later sleeps. 0 never polls: events then fire up to 1.1 ms late, the grain of
   * Node's timers.
   */
  readonly pollWithinNs?: number;
  /** Monotonic wall time in nanoseconds; injected by tests. */
  readonly wallNs?: () => number;
}

/** The shortest sleep that Node's timers keep. */
const TIMER_GRAIN_NS = 1_100_000;

/**
 * Virtual time paced by the wall: an event runs when the wall has reached its time, and outside events now is the wall.
 * When the host is too slow, events run late, each still at its own simulated time; `lagNs` says by how much.
 */
export class PacedClock implements Clock {
  private readonly inner = new VirtualClock();
  private readonly pollWithinNs: number;
  private readonly wallNs: () => number;
  private readonly startNs: number;
  private timer: NodeJS.Timeout | undefined;
  private immediate: NodeJS.Immediate | undefined;
  private timerDueNs = Infinity;
  private dispatching = false;
  private closed = false;
  private worstLagNs = 0;

  constructor(options: PacedClockOptions = {}) {
    this.pollWithinNs = options.pollWithinNs ?? 0;
    this.wallNs = options.wallNs ?? (() => performance.now() * 1e6);
    this.startNs = this.wallNs();
  }

  nowNs(): number {
    if (!this.dispatching) this.inner.advanceTo(this.elapsedNs());
    // Overdue events hold the inner clock back; the world outside still lives at the wall's time.
    return this.dispatching ? this.inner.nowNs() : Math.max(this.inner.nowNs(), this.elapsedNs());
  }

  behindNs(): number {
    return this.dispatching ? Math.max(0, this.elapsedNs() - this.inner.nowNs()) : 0;
  }

  attach(port: string, sink: EventSink): void {
    this.inner.attach(port, sink);
  }

  detach(port: string): void {
    this.inner.detach(port);
  }

  schedule(port: string, timeNs: number, kind: string, payload?: EventPayload): number {
    const order = this.inner.schedule(port, timeNs, kind, payload);
    if (!this.dispatching) this.arm();
    return order;
  }

  skipTo(timeNs: number): boolean {
    return this.dispatching && this.inner.skipTo(timeNs);
  }

  quietUntilNs(): number {
    return this.dispatching ? this.inner.quietUntilNs() : -Infinity;
  }

  cancel(order: number): boolean {
    return this.inner.cancel(order);
  }

  /** The largest lateness of an event so far, in nanoseconds of wall time. */
  get lagNs(): number {
    return this.worstLagNs;
  }

  /** Stops the pacing; pending events never run. */
  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    clearImmediate(this.immediate);
  }

  private elapsedNs(): number {
    return this.wallNs() - this.startNs;
  }

  private pump(): void {
    if (this.closed) return;
    this.dispatching = true;
    try {
      for (;;) {
        const nextNs = this.inner.nextEventNs();
        const elapsedNs = this.elapsedNs();
        if (nextNs === undefined || nextNs > elapsedNs) break;
        this.worstLagNs = Math.max(this.worstLagNs, elapsedNs - nextNs);
        this.inner.step(elapsedNs);
      }
    } finally {
      this.dispatching = false;
      this.arm();
    }
  }

  private arm(): void {
    if (this.closed) return;
    const nextNs = this.inner.nextEventNs();
    if (nextNs === undefined) {
      this.disarm();
      return;
    }
    const waitNs = nextNs - this.elapsedNs();
    if (waitNs <= this.pollWithinNs) {
      this.immediate ??= setImmediate(() => {
        this.immediate = undefined;
        this.pump();
      });
      return;
    }
    if (this.timer !== undefined && this.timerDueNs <= nextNs) return;
    clearTimeout(this.timer);
    this.timerDueNs = nextNs;
    // Wake a grain early when polling can cover the rest; otherwise the timer rounds up by itself.
    const sleepNs = this.pollWithinNs > 0 ? waitNs - TIMER_GRAIN_NS : waitNs;
    this.timer = setTimeout(() => this.wake(), Math.min(Math.max(sleepNs / 1e6, 0), 0x7fffffff));
  }

  private wake(): void {
    this.timer = undefined;
    this.timerDueNs = Infinity;
    this.pump();
  }

  private disarm(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.timerDueNs = Infinity;
  }
}
