import { IntervalBuffer } from '../../idempotency/testing/index.js';

/** As many intervals as are found. */
export class GrowingIntervals extends IntervalBuffer {
  private lastRead = -1;
  private lastWrite = -1;

  constructor(capacity = 16) {
    super(capacity, { lo: new Float64Array(capacity), hi: new Float64Array(capacity) });
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
