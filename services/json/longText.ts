/** Bytes that are put together to one text: from this size on Node keeps a text outside the heap. */
const BLOCK_BYTES = 1024 * 1024;

/**
 * A long string of JSON, of which pieces come. They are gathered outside the heap of JavaScript: each piece as a text of
 * its own would be copied by the collector twice before it is taken for old, and of some clients' strings at once a
 * single collection took 100 ms, in which nobody is served.
 */
export class LongText {
  /** About how many characters. */
  length = 0;
  private text = '';
  private block: Buffer | undefined;
  private used = 0;
  /** All bytes of the block, together. */
  private bits = 0;

  /** The bytes from `start` to `end`, which are whole characters. @param bits all of them, together */
  add(bytes: Buffer, start: number, end: number, bits: number): void {
    const count = end - start;
    this.length += count;
    if (this.used + count > BLOCK_BYTES) this.finishBlock();
    if (count > BLOCK_BYTES) this.text += textOf(bytes, start, end, bits);
    else {
      // The system gives its memory as it is written.
      this.block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES);
      bytes.copy(this.block, this.used, start, end);
      this.used += count;
      this.bits |= bits;
    }
  }

  /** What came as escapes may be no UTF-8. */
  addText(part: string): void {
    this.finishBlock();
    this.length += part.length;
    this.text += part;
  }

  /** All that came; then it is empty. */
  take(): string {
    this.finishBlock();
    const { text } = this;
    this.text = '';
    this.length = 0;
    this.block = undefined;
    return text;
  }

  private finishBlock(): void {
    if (this.block === undefined || this.used === 0) return;
    this.text += textOf(this.block, 0, this.used, this.bits);
    this.used = 0;
    this.bits = 0;
  }
}

/** The text of whole characters of UTF-8. @param bits all bytes, together: those of ASCII take less time */
export function textOf(bytes: Buffer, start: number, end: number, bits: number): string {
  return bytes.toString(bits < 128 ? 'latin1' : 'utf8', start, end);
}
