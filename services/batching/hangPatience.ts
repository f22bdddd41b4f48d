const MOST = 16;
const HALVED_AFTER_NS = 60e9;

/**
 * How patient to be with a model whose replicas have been lost by hanging: twice as much after each loss, half as much
 * after each minute without one. A model that has become slow for good so keeps its replicas after a few losses.
 */
export class HangPatience {
  private factor = 1;
  private sinceNs = 0;

  now(nowNs: number): number {
    return Math.max(1, this.factor / 2 ** Math.floor((nowNs - this.sinceNs) / HALVED_AFTER_NS));
  }

  onHang(nowNs: number): void {
    this.factor = Math.min(MOST, 2 * this.now(nowNs));
    this.sinceNs = nowNs;
  }
}
