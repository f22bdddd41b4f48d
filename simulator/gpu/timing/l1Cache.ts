/**
 * One block's share of L1: least recently used, by lines of 128 bytes with four sectors each. Stores go through and
 * leave their sectors behind, as the card's hit rates of kernels that read what they wrote show.
 */
export class L1Cache {
  private readonly lines = new Map<number, number>();

  constructor(private readonly capacityLines: number) {}

  /** Cards of old cache nothing here. */
  get isThere(): boolean {
    return this.capacityLines > 0;
  }

  clear(): void {
    this.lines.clear();
  }

  /** Touches sectors of one line; returns those that were missing, as a mask. */
  touch(line: number, sectors: number): number {
    if (!this.isThere) return sectors;
    const held = this.lines.get(line);
    if (held !== undefined) this.lines.delete(line);
    else if (this.lines.size >= this.capacityLines) this.evict();
    this.lines.set(line, (held ?? 0) | sectors);
    return sectors & ~(held ?? 0);
  }

  private evict(): void {
    const oldest = this.lines.keys().next();
    if (oldest.done !== true) this.lines.delete(oldest.value);
  }
}
