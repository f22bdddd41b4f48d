/** Nobody waits longer, whatever it has sent: one that waits is not seen to go, either. */
const LONGEST_WAIT_MS = 5000;

/** What a container may send unasked: so many messages at once, and so many a second after that. */
export class Allowance {
  private left: number;
  private sinceMs: number;

  constructor(
    private readonly burst: number,
    private readonly perSecond: number,
    private readonly nowMs: () => number,
  ) {
    this.left = burst;
    this.sinceMs = nowMs();
  }

  /** @returns milliseconds until more may be sent; 0 while there is something left. */
  spend(cost: number): number {
    const nowMs = this.nowMs();
    const perMs = this.perSecond / 1000;
    const before = Math.min(this.burst, this.left + (nowMs - this.sinceMs) * perMs);
    this.left = Math.max(-LONGEST_WAIT_MS * perMs, before - cost);
    this.sinceMs = nowMs;
    return this.left >= 0 ? 0 : -this.left / perMs;
  }
}
