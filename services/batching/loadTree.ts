/**
 * Loads of replicas by their places, as a tournament: the least of them from any place on, in a circle, is found in as many
 * steps as their number has bits, and so is a load put right.
 */
export class LoadTree {
  readonly size: number;
  /** The leaves' number, a power of two; node 1 is the root, and the parent of node n is n >> 1. */
  private readonly leaves: number;
  private readonly waits: Float64Array;
  private readonly backlogs: Float64Array;
  private readonly itemSums: Float64Array;
  private readonly batches: Float64Array;

  constructor(size: number) {
    this.size = size;
    this.leaves = 2 ** Math.ceil(Math.log2(Math.max(size, 2)));
    this.waits = new Float64Array(2 * this.leaves).fill(Infinity);
    this.backlogs = new Float64Array(2 * this.leaves).fill(Infinity);
    this.itemSums = new Float64Array(2 * this.leaves);
    this.batches = new Float64Array(2 * this.leaves);
  }

  get leastWaitNs(): number {
    return this.waits[1];
  }

  get leastUnmeasuredBacklog(): number {
    return this.backlogs[1];
  }

  /** Of all that have answered. */
  get sumOfItemNs(): number {
    return this.itemSums[1];
  }

  get longestBatchNs(): number {
    return this.batches[1];
  }

  /**
   * @param waitNs expected; Infinity where it has no room, and of one that has answered nothing.
   * @param unmeasuredBacklog of one that has answered nothing: what it has before it. Infinity where it has no room, and of others.
   * @param itemNs mean service time an item; 0 of one that has answered nothing.
   * @param batchNs what a batch takes it; 0 where nobody knows.
   */
  set(place: number, waitNs: number, unmeasuredBacklog: number, itemNs: number, batchNs: number): void {
    const { waits, backlogs, itemSums, batches } = this;
    let node = this.leaves + place;
    waits[node] = waitNs;
    backlogs[node] = unmeasuredBacklog;
    itemSums[node] = itemNs;
    batches[node] = batchNs;
    for (node >>= 1; node > 0; node >>= 1) {
      const left = 2 * node;
      const right = left + 1;
      waits[node] = Math.min(waits[left], waits[right]);
      backlogs[node] = Math.min(backlogs[left], backlogs[right]);
      itemSums[node] = itemSums[left] + itemSums[right];
      batches[node] = Math.max(batches[left], batches[right]);
    }
  }

  /** Whether the wait, or the backlog, at a place is so much. */
  isAtLeast(place: number, least: number): boolean {
    const node = this.leaves + place;
    return Math.min(this.waits[node], this.backlogs[node]) >= least;
  }

  /** Whose wait is the least: the first from `start` on. */
  leastWaitFrom(start: number): number {
    return this.leastFrom(this.waits, start);
  }

  /** Which of those that have answered nothing has least before it: the first from `start` on. */
  leastUnmeasuredFrom(start: number): number {
    return this.leastFrom(this.backlogs, start);
  }

  private leastFrom(least: Float64Array, start: number): number {
    const at = this.firstFrom(least, start);
    return at < this.size ? at : this.firstFrom(least, 0);
  }

  /** The first place from `start` on that has the least of all; the number of leaves, or more, where there is none. */
  private firstFrom(least: Float64Array, start: number): number {
    const wanted = least[1];
    let node = this.leaves + start;
    // Up, until it stands below or to the right of here.
    while (least[node] !== wanted) {
      while ((node & 1) === 1) node >>= 1;
      if (node === 0) return this.leaves;
      node += 1;
    }
    while (node < this.leaves) {
      node *= 2;
      if (least[node] !== wanted) node += 1;
    }
    return node - this.leaves;
  }
}
