/** Puts lines together from the pieces that a pipe gives. */
export class LineSplitter {
  private pieces: string[] = [];
  private held = 0;

  constructor(private readonly onLine: (line: string) => void) {}

  /** Characters that wait for the end of their line. */
  get waiting(): number {
    return this.held;
  }

  push(text: string): void {
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      const last = text.slice(start, end);
      start = end + 1;
      const line = this.held === 0 ? last : this.pieces.join('') + last;
      this.pieces = [];
      this.held = 0;
      this.onLine(line);
    }
    if (start === text.length) return;
    this.pieces.push(text.slice(start));
    this.held += text.length - start;
  }
}
