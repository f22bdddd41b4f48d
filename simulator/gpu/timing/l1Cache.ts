/**
 * One block's share of L1: least recently used, by lines of 128 bytes with four sectors each. Stores go through and
 * leave their sectors behind, as the card's hit rates of kernels that read what they wrote show.
 */
export class L1Cache {
  private readonly lines = new Map<number, number>();
  /** Lines that other blocks use too take a part of one of this block's. */
  private held = 0;
  private readonly shares = new Map<number, number>();

  constructor(private readonly capacityLines: number) {}

  /** Cards of old cache nothing here. */
  get isThere(): boolean {
    return this.capacityLines > 0;
  }

  clear(): void {
    this.lines.clear();
    this.shares.clear();
    this.held = 0;
  }

  /** Touches sectors of one line; returns those that were missing, as a mask. */
  touch(line: number, sectors: number, share = 1): number {
    if (!this.isThere) return sectors;
    const held = this.lines.get(line);
    if (held !== undefined) this.lines.delete(line);
    else {
      this.held += share;
      if (share !== 1) this.shares.set(line, share);
      while (this.held > this.capacityLines && this.evict()) continue;
    }
    this.lines.set(line, (held ?? 0) | sectors);
    return sectors & ~(held ?? 0);
  }

  private evict(): boolean {
    const oldest = this.lines.keys().next();
    if (oldest.done === true) return false;
    this.lines.delete(oldest.value);
    this.held -= this.shares.get(oldest.value) ?? 1;
    this.shares.delete(oldest.value);
    return true;
  }
}
