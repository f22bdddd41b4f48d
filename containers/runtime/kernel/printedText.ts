/** Text of kernels goes out once a second at most, and so much of it. */
const EVERY_NS = 1e9;
const MOST_CHARACTERS = 4000;

/**
 * Keeps what a model's kernels print from flooding a log: some text a second of the node's clock, and word of what was left
 * out.
 */
export class PrintedText {
  private nextNs = -Infinity;
  private leftOut = 0;

  /** @returns what may go out now. */
  take(text: string, nowNs: number): string | undefined {
    if (nowNs < this.nextNs) {
      this.leftOut += text.length;
      return undefined;
    }
    this.nextNs = nowNs + EVERY_NS;
    const before = this.leftOut === 0 ? '' : `(${this.leftOut} characters left out)\n`;
    this.leftOut = Math.max(0, text.length - MOST_CHARACTERS);
    return before + text.slice(0, MOST_CHARACTERS);
  }
}
