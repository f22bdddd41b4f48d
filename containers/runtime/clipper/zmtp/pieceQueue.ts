/** Bytes as they came from a socket, taken in parts of any size; copied only where a part lies in several pieces. */
export class PieceQueue {
  private pieces: Buffer[] = [];
  /** Of the first piece, what was taken already. */
  private taken = 0;
  private total = 0;

  get length(): number {
    return this.total;
  }

  push(piece: Buffer): void {
    if (piece.length === 0) return;
    this.pieces.push(piece);
    this.total += piece.length;
  }

  /** The byte at `offset`, which must be there. */
  byteAt(offset: number): number {
    let at = offset + this.taken;
    let index = 0;
    while (at >= this.pieces[index].length) at -= this.pieces[index++].length;
    return this.pieces[index][at];
  }

  /** @param count of bytes, no more than there are. */
  take(count: number): Buffer {
    const [first] = this.pieces;
    if (count === 0) return Buffer.alloc(0);
    this.total -= count;
    if (first.length - this.taken > count) {
      this.taken += count;
      return first.subarray(this.taken - count, this.taken);
    }
    const parts: Buffer[] = [];
    let missing = count;
    let whole = 0;
    for (; missing > 0; whole++) {
      const piece = this.pieces[whole];
      const left = piece.length - this.taken;
      if (left > missing) {
        parts.push(piece.subarray(this.taken, this.taken + missing));
        this.taken += missing;
        break;
      }
      parts.push(this.taken === 0 ? piece : piece.subarray(this.taken));
      missing -= left;
      this.taken = 0;
    }
    this.pieces.splice(0, whole);
    return parts.length === 1 ? parts[0] : Buffer.concat(parts, count);
  }
}
