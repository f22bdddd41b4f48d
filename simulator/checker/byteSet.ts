/** A set of byte offsets below `bytes`, a bit each. */
export class ByteSet {
  private readonly bits: Uint8Array;

  constructor(bytes: number) {
    this.bits = new Uint8Array(Math.ceil(bytes / 8));
  }

  add(offset: number, bytes: number): void {
    for (let at = offset; at < offset + bytes; at++)
      this.bits[at >>> 3] = (this.bits[at >>> 3] ?? 0) | (1 << (at & 7));
  }

  remove(offset: number, bytes: number): void {
    for (let at = offset; at < offset + bytes; at++)
      this.bits[at >>> 3] = (this.bits[at >>> 3] ?? 0) & ~(1 << (at & 7));
  }

  /** How many of `[offset, offset + bytes)` it has. */
  countIn(offset: number, bytes: number): number {
    let found = 0;
    for (let at = offset; at < offset + bytes; at++) found += ((this.bits[at >>> 3] ?? 0) >>> (at & 7)) & 1;
    return found;
  }
}
