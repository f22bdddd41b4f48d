const WIDTH = 28;
const INTERVAL_MS = 100;
/** Some terminals say that they have no columns. */
const UNKNOWN_WIDTH = 80;

/** One line that is drawn over itself, on a terminal only. */
export class ProgressBar {
  private drawnMs = -Infinity;
  private drawn = false;

  constructor(private readonly stream: NodeJS.WriteStream) {}

  /** @param share 0 to 1; undefined when nobody knows how far it is. */
  update(share: number | undefined, text: string): void {
    if (!this.stream.isTTY) return;
    const nowMs = performance.now();
    if (nowMs - this.drawnMs < INTERVAL_MS) return;
    this.drawnMs = nowMs;
    this.drawn = true;
    const bar =
      share === undefined ? '' : `${barOf(share)} ${String(Math.floor(share * 100)).padStart(3)} %  `;
    this.stream.write(`\r\x1b[2K${`${bar}${text}`.slice(0, (this.stream.columns || UNKNOWN_WIDTH) - 1)}`);
  }

  clear(): void {
    if (this.drawn) this.stream.write('\r\x1b[2K');
    this.drawn = false;
  }
}

function barOf(share: number): string {
  const full = Math.round(share * WIDTH);
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)}`;
}
