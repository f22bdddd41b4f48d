/** A thread of the host: it does one thing after the other. */
export class HostThread {
  private freeNs = 0;

  /** @returns when something is done that comes now and takes so long */
  take(nowNs: number, forNs: number): number {
    this.freeNs = Math.max(nowNs, this.freeNs) + forNs;
    return this.freeNs;
  }
}
