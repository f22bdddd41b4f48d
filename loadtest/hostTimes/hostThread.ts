/** Shorter ones leave a thread as cold as it was. */
const SHORT_NS = 1e6;

/** A thread of the host: it does one thing after the other, and is the colder the longer it has waited for that. */
export class HostThread {
  private freeNs = -Infinity;
  private coldNs = Infinity;

  /**
   * @param forNs what it takes after so long a pause
   * @returns when something is done that comes now
   */
  take(nowNs: number, forNs: (pauseNs: number) => number): number {
    const pauseNs = nowNs - this.freeNs;
    // Who comes in a burst finds it as cold as the first of them.
    if (pauseNs >= SHORT_NS) this.coldNs = pauseNs;
    this.freeNs = Math.max(nowNs, this.freeNs) + forNs(this.coldNs);
    return this.freeNs;
  }
}
