/** It may load something then. */
const FRESH_FACTOR = 8;
const MOST_HANGS = 5;
const FORGOTTEN_AFTER_NS = 60e9;

/**
 * How patient to be with a model whose replicas are lost by hanging, one after the other: from the second on twice as much
 * after each, and half as much after each minute without one. A model that has become slow for good so keeps its replicas
 * after a few losses.
 */
export class HangPatience {
  private hangs = 0;
  private sinceNs = 0;

  /** @param freshFactor so much longer than its siblings a replica may take for its first batch. */
  constructor(readonly freshFactor = FRESH_FACTOR) {}

  /** A factor of at least 1. */
  now(nowNs: number): number {
    return 2 ** Math.max(0, this.remembered(nowNs) - 1);
  }

  onHang(nowNs: number): void {
    this.hangs = Math.min(MOST_HANGS, this.remembered(nowNs) + 1);
    this.sinceNs = nowNs;
  }

  private remembered(nowNs: number): number {
    return Math.max(0, this.hangs - Math.floor((nowNs - this.sinceNs) / FORGOTTEN_AFTER_NS));
  }
}
