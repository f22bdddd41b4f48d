/** What a block waits for before it goes on, and what it tells others after that: who waits for that waits for all before it. */
export class Signals {
  /** Addresses that it looks at until somebody has written them, and the latency of a look. */
  readonly awaited = new Map<number, number>();
  /** Addresses that it writes only once it has seen what it waited for, and how many cycles later. */
  readonly raised = new Map<number, number>();
  private readonly before = new Set<number>();
  private seenAt = -1;

  /** @param latency from the look to its answer, in cycles */
  look(address: number, cycle: number, latency: number): void {
    this.awaited.set(address, latency);
    this.seenAt = Math.max(this.seenAt, cycle + latency);
    this.raised.clear();
  }

  write(address: number, cycle: number): void {
    if (this.seenAt < 0) this.before.add(address);
    else if (!this.before.has(address) && !this.raised.has(address)) {
      this.raised.set(address, Math.max(0, cycle - this.seenAt));
    }
  }
}

/**
 * Cycles from one block's having seen its signal to the next one's having seen what it raises, where each of them waits for the
 * one before; 0 where they do not.
 * @param oneWay cycles that a write takes to L2
 */
export function linkCycles(earlier: Signals, later: Signals, oneWay: number): number {
  let longest = 0;
  for (const [address, latency] of later.awaited) {
    const cycles = earlier.raised.get(address);
    // On average it comes halfway between two looks, and half a look is on its way back.
    if (cycles !== undefined) longest = Math.max(longest, cycles + oneWay + latency);
  }
  return longest;
}
