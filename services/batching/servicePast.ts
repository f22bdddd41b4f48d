const REMEMBERED = 16;

/**
 * What the last batches took, for the one question that a mean cannot answer: how long may a batch take without anything
 * being wrong? At least as long as the longest of late; and a batch larger than all of them may take longer in
 * proportion.
 */
export class ServicePast {
  private readonly tookNs = new Float64Array(REMEMBERED);
  private readonly sizes = new Float64Array(REMEMBERED);
  private recorded = 0;

  /** Whether anything was recorded. */
  get known(): boolean {
    return this.recorded > 0;
  }

  record(size: number, tookNs: number): void {
    const at = this.recorded++ % REMEMBERED;
    this.sizes[at] = size;
    this.tookNs[at] = tookNs;
  }

  longestNs(size: number): number {
    let longestNs = 0;
    let largest = 0;
    let largestNs = 0;
    const count = Math.min(this.recorded, REMEMBERED);
    for (let at = 0; at < count; at++) {
      const ns = this.tookNs[at];
      if (ns > longestNs) longestNs = ns;
      if (this.sizes[at] > largest || (this.sizes[at] === largest && ns > largestNs)) {
        largest = this.sizes[at];
        largestNs = ns;
      }
    }
    return size > largest && largest > 0 ? Math.max(longestNs, (largestNs * size) / largest) : longestNs;
  }
}
