/** Weight that a sample keeps from one batch to the next: about the last ten count. */
const MEMORY = 0.9;
/** Before so many batches nothing is expected of the next one. */
const ENOUGH_BATCHES = 8;
/** A batch counts as at most so many times what was expected: one pause of the container must not look like its pace. */
const LARGEST_SURPRISE = 2;
/** Sizes that differ by less than this share of their mean say nothing about what an item costs. */
const LEAST_SPREAD = 0.05;

/**
 * What a batch of a given size takes a replica, without waiting anywhere: a line through recent batches, by least squares
 * with fading weights. Where sizes were all alike an item is taken to cost nothing extra, so that larger batches are
 * tried before they are called too slow.
 */
export class ServiceEstimate {
  fixedNs = 0;
  itemNs = 0;
  private batches = 0;
  private weight = 0;
  private sizeSum = 0;
  private timeSum = 0;
  private squareSum = 0;
  private productSum = 0;

  get known(): boolean {
    return this.batches >= ENOUGH_BATCHES;
  }

  /** Of recent batches; NaN before the first. */
  get meanSize(): number {
    return this.sizeSum / this.weight;
  }

  batchNs(size: number): number {
    return this.fixedNs + this.itemNs * size;
  }

  record(size: number, tookNs: number): void {
    const timeNs = this.known ? Math.min(tookNs, LARGEST_SURPRISE * this.batchNs(size)) : tookNs;
    this.batches += 1;
    this.weight = this.weight * MEMORY + 1;
    this.sizeSum = this.sizeSum * MEMORY + size;
    this.timeSum = this.timeSum * MEMORY + timeNs;
    this.squareSum = this.squareSum * MEMORY + size * size;
    this.productSum = this.productSum * MEMORY + size * timeNs;
    const meanSize = this.sizeSum / this.weight;
    const meanNs = this.timeSum / this.weight;
    const variance = this.squareSum / this.weight - meanSize * meanSize;
    const covariance = this.productSum / this.weight - meanSize * meanNs;
    const spread = LEAST_SPREAD * meanSize;
    const slopeNs = variance > spread * spread ? covariance / variance : 0;
    // Neither part of the line is below 0.
    this.itemNs = Math.min(Math.max(slopeNs, 0), meanNs / meanSize);
    this.fixedNs = meanNs - this.itemNs * meanSize;
  }
}
