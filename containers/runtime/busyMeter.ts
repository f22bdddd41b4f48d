/** Time during which a node had work, on both clocks. The quotient is the run's dilation. */
export interface BusyTimes {
  readonly busySimulatedNs: number;
  /** 0 when nobody measures host time. */
  readonly busyHostNs: number;
}

/**
 * Measures how much host time a node's work takes against the simulated time that it covers. Functional execution is
 * far slower than the card; a run whose dilation is above 1 is true in its answers and not in its pace.
 *
 * The two unions are kept apart: on a clock paced by the wall, two batches that overlap on a late host may lie one after
 * the other in simulated time.
 */
export class BusyMeter {
  private active = 0;
  private hostSinceNs = 0;
  private hostNs = 0;
  private simulatedNs = 0;
  private simulatedUntilNs = -Infinity;

  /** @param hostNowNs monotonic host time; absent in virtual runs, where host time is nobody's business. */
  constructor(readonly hostNowNs?: () => number) {}

  /** A batch has come. */
  enter(): void {
    if (this.active++ === 0) this.hostSinceNs = this.hostNowNs?.() ?? 0;
  }

  /** A batch is answered or given up; its service took `[fromNs, toNs]` on the simulated clock. */
  leave(fromNs: number, toNs: number): void {
    this.simulatedNs += Math.max(0, toNs - Math.max(fromNs, this.simulatedUntilNs));
    this.simulatedUntilNs = Math.max(this.simulatedUntilNs, toNs);
    if (--this.active === 0) this.hostNs += (this.hostNowNs?.() ?? 0) - this.hostSinceNs;
  }

  /** Host time with a batch in flight up to now, one that is still there included. */
  hostBusyNs(): number {
    return this.hostNs + (this.active > 0 ? (this.hostNowNs?.() ?? 0) - this.hostSinceNs : 0);
  }

  times(): BusyTimes {
    return { busySimulatedNs: this.simulatedNs, busyHostNs: this.hostNs };
  }
}
