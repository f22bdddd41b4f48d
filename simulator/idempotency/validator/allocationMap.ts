/** Where allocations lie, in ascending order: what a launch may know of memory without reading it. */
export class AllocationMap {
  /** First and last byte of each, alternating. */
  private ends = new Float64Array(64);
  private count = 0;

  constructor(segments: Iterable<{ readonly virtualAddress: number; readonly bytes: number }> = []) {
    this.set(segments);
  }

  /** Replaces the map. */
  set(segments: Iterable<{ readonly virtualAddress: number; readonly bytes: number }>): void {
    const sorted = [...segments]
      .filter(({ bytes }) => bytes > 0)
      .sort((a, b) => a.virtualAddress - b.virtualAddress);
    if (sorted.length * 2 > this.ends.length) this.ends = new Float64Array(sorted.length * 4);
    sorted.forEach(({ virtualAddress, bytes }, index) => {
      this.ends[2 * index] = virtualAddress;
      this.ends[2 * index + 1] = virtualAddress + bytes - 1;
    });
    this.count = sorted.length;
  }

  /** Number of the allocation that holds the address in `at[0]`, or -1. */
  find(at: Float64Array): number {
    const address = at[0] ?? NaN;
    let lo = 0;
    let hi = this.count - 1;
    while (lo <= hi) {
      const middle = (lo + hi) >> 1;
      if (address < (this.ends[2 * middle] ?? 0)) hi = middle - 1;
      else if (address > (this.ends[2 * middle + 1] ?? 0)) lo = middle + 1;
      // Neither below nor above: inside, unless it is no number.
      else return address === address ? middle : -1;
    }
    return -1;
  }

  /** First byte of an allocation by number. */
  first(index: number): number {
    return this.ends[2 * index] ?? Infinity;
  }

  /** Last byte of an allocation by number. */
  last(index: number): number {
    return this.ends[2 * index + 1] ?? -Infinity;
  }
}
