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

  /** The intervals lie in `ends`. */
  constructor(capacity: number, { lo, hi }: { lo: Float64Array; hi: Float64Array }) {
    this.lo = lo;
    this.hi = hi;
    this.isWrite = new Uint8Array(capacity);
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
}

function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
