/** A fixed-size set of small integers. */
export class BitSet {
  private readonly words: Int32Array;

  constructor(readonly size: number) {
    this.words = new Int32Array((size + 31) >>> 5);
  }

  has(member: number): boolean {
    return (((this.words[member >>> 5] ?? 0) >>> (member & 31)) & 1) === 1;
  }

  add(member: number): void {
    this.words[member >>> 5] = (this.words[member >>> 5] ?? 0) | (1 << (member & 31));
  }

  delete(member: number): void {
    this.words[member >>> 5] = (this.words[member >>> 5] ?? 0) & ~(1 << (member & 31));
  }

  /** Adds all members of another set of this size. @returns whether any was new. */
  addAll(other: BitSet): boolean {
    let changed = false;
    for (let index = 0; index < this.words.length; index++) {
      const before = this.words[index] ?? 0;
      const after = before | (other.words[index] ?? 0);
      if (after === before) continue;
      this.words[index] = after;
      changed = true;
    }
    return changed;
  }

  copy(): BitSet {
    const copy = new BitSet(this.size);
    copy.words.set(this.words);
    return copy;
  }

  members(): number[] {
    const found: number[] = [];
    for (let member = 0; member < this.size; member++) if (this.has(member)) found.push(member);
    return found;
  }
}
