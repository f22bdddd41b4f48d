/** Up to so many, sorting starts from the order of the last launch. */
const MOST_INSERTED = 512;

/** Intervals of reads and writes, in buffers that are filled anew for each launch. */
export class IntervalBuffer {
  /** First and last byte; lo > hi: none. An end without a bound is infinite. */
  lo: Float64Array;
  hi: Float64Array;
  isWrite: Uint8Array;
  count = 0;
  private order = new Int32Array(0);
  private lastRead = -1;
  private lastWrite = -1;

  /** With `ends` the intervals lie there. */
  constructor(
    capacity: number,
    { lo, hi }: { lo: Float64Array; hi: Float64Array } = {
      lo: new Float64Array(capacity),
      hi: new Float64Array(capacity),
    },
  ) {
    this.lo = lo;
    this.hi = hi;
    this.isWrite = new Uint8Array(capacity);
  }

  clear(): void {
    this.count = 0;
    this.lastRead = -1;
    this.lastWrite = -1;
  }

  /** Adds an interval, or makes the last one of its side longer when it goes on there. */
  join(lo: number, hi: number, isWrite: boolean): void {
    const last = isWrite ? this.lastWrite : this.lastRead;
    const end = last < 0 ? NaN : (this.hi[last] ?? NaN);
    if (lo <= end + 1 && lo >= (this.lo[last] ?? NaN)) {
      if (hi > end) this.hi[last] = hi;
      return;
    }
    if (isWrite) this.lastWrite = this.count;
    else this.lastRead = this.count;
    this.add(lo, hi, isWrite);
  }

  /** Addresses without a bound on one side may wrap around to the other. */
  add(lo: number, hi: number, isWrite: boolean): void {
    const at = this.count++;
    if (at === this.lo.length) this.grow();
    const isOpen = !(lo > -Infinity && hi < Infinity);
    this.lo[at] = isOpen ? -Infinity : lo;
    this.hi[at] = isOpen ? Infinity : hi;
    this.isWrite[at] = isWrite ? 1 : 0;
  }

  /**
   * Whether a read and a write have a byte in common: in order of first bytes, the farthest last byte of either side tells. The
   * order of the last launch is where sorting starts, so that launches alike cost one pass.
   */
  overlaps(): boolean {
    const { lo, hi, isWrite } = this;
    const order = this.sorted();
    let read = -Infinity;
    let write = -Infinity;
    for (const at of order) {
      const first = lo[at] ?? 0;
      const last = hi[at] ?? 0;
      if (first > last) continue;
      if (isWrite[at] === 1) {
        if (first <= read) return true;
        if (last > write) write = last;
      } else {
        if (first <= write) return true;
        if (last > read) read = last;
      }
    }
    return false;
  }

  private sorted(): Int32Array {
    const { lo, count } = this;
    if (this.order.length !== count) this.order = Int32Array.from({ length: count }, (_, at) => at);
    // Very many (enumerated threads) come in any order. Differences would be NaN between infinities.
    if (count > MOST_INSERTED) {
      return this.order.sort((a, b) => compare(lo[a] ?? 0, lo[b] ?? 0));
    }
    const { order } = this;
    for (let place = 1; place < count; place++) {
      const at = order[place] ?? 0;
      const key = lo[at] ?? 0;
      let before = place - 1;
      while (before >= 0 && (lo[order[before] ?? 0] ?? 0) > key) {
        order[before + 1] = order[before] ?? 0;
        before--;
      }
      order[before + 1] = at;
    }
    return order;
  }

  private grow(): void {
    const capacity = Math.max(2 * this.lo.length, 16);
    const [lo, hi, isWrite] = [this.lo, this.hi, this.isWrite];
    this.lo = new Float64Array(capacity);
    this.hi = new Float64Array(capacity);
    this.isWrite = new Uint8Array(capacity);
    this.lo.set(lo);
    this.hi.set(hi);
    this.isWrite.set(isWrite);
  }
}

function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
