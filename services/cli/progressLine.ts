/** One line on a terminal's standard error that says what long work is at; nothing where nobody looks. */
export class ProgressLine {
  private readonly startMs = performance.now();
  private isShown = false;

  constructor(private readonly stream: NodeJS.WriteStream = process.stderr) {}

  show(text: string): void {
    if (!this.stream.isTTY) return;
    const seconds = ((performance.now() - this.startMs) / 1000).toFixed(1);
    this.stream.write(`\r\x1b[K${text} (${seconds} s)`);
    this.isShown = true;
  }

  clear(): void {
    if (this.isShown) this.stream.write('\r\x1b[K');
    this.isShown = false;
  }
}
