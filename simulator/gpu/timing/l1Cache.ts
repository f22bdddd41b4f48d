const FIRST_CAPACITY = 256;

/**
 * One block's share of L1: least recently used, by lines of 128 bytes with four sectors each. Stores go through and
 * leave their sectors behind, as the card's hit rates of kernels that read what they wrote show. Lines go by small numbers,
 * the places that a table of the block's lines gives them.
 */
export class L1Cache {
  /** Sectors that are there. */
  private sectors = new Uint8Array(FIRST_CAPACITY);
  private isHeld = new Uint8Array(FIRST_CAPACITY);
  /** Lines that other blocks use too take a part of one of this block's. */
  private shares = new Float64Array(FIRST_CAPACITY);
  private older = new Int32Array(FIRST_CAPACITY);
  private newer = new Int32Array(FIRST_CAPACITY);
  private oldest = -1;
  private newest = -1;
  private held = 0;

  constructor(private readonly capacityLines: number) {}

  /** Cards of old cache nothing here. */
  get isThere(): boolean {
    return this.capacityLines > 0;
  }

  clear(): void {
    this.isHeld.fill(0);
    this.oldest = this.newest = -1;
    this.held = 0;
  }

  /** Touches sectors of one line; returns those that were missing, as a mask. */
  touch(line: number, sectors: number, share = 1): number {
    if (!this.isThere) return sectors;
    if (line >= this.sectors.length) this.grow(line);
    let there = 0;
    if (this.isHeld[line] === 1) {
      there = this.sectors[line];
      if (line !== this.newest) {
        this.unlink(line);
        this.append(line);
      }
    } else {
      this.held += share;
      this.shares[line] = share;
      while (this.held > this.capacityLines && this.oldest >= 0) this.evict(this.oldest);
      this.isHeld[line] = 1;
      this.append(line);
    }
    this.sectors[line] = there | sectors;
    return sectors & ~there;
  }

  private evict(line: number): void {
    this.unlink(line);
    this.isHeld[line] = 0;
    this.held -= this.shares[line];
  }

  private append(line: number): void {
    this.older[line] = this.newest;
    this.newer[line] = -1;
    if (this.newest >= 0) this.newer[this.newest] = line;
    else this.oldest = line;
    this.newest = line;
  }

  private unlink(line: number): void {
    const older = this.older[line];
    const newer = this.newer[line];
    if (older >= 0) this.newer[older] = newer;
    else this.oldest = newer;
    if (newer >= 0) this.older[newer] = older;
    else this.newest = older;
  }

  private grow(line: number): void {
    const capacity = Math.max(4 * this.sectors.length, 2 ** Math.ceil(Math.log2(line + 1)));
    const { sectors, isHeld, shares, older, newer } = this;
    (this.sectors = new Uint8Array(capacity)).set(sectors);
    (this.isHeld = new Uint8Array(capacity)).set(isHeld);
    (this.shares = new Float64Array(capacity)).set(shares);
    (this.older = new Int32Array(capacity)).set(older);
    (this.newer = new Int32Array(capacity)).set(newer);
  }
}
