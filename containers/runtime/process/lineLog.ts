const LINES_PER_SECOND = 20;
const MAX_LINE_LENGTH = 1000;
/** An error that is printed among others in the same moment is looked for in the last of them. */
const MAX_TAIL_LENGTH = 4096;
/** An error that was printed longer ago is not why a process has ended. */
const RECENT_MS = 2000;

/** What a process prints, line by line, a few a second: a model that prints for every query must not fill the log. */
export class LineLog {
  private rest = '';
  private windowMs = -Infinity;
  private lines = 0;
  private leftOut = 0;
  private noteTimer: NodeJS.Timeout | undefined;
  private lastError = '';
  private lastErrorMs = -Infinity;

  constructor(
    private readonly nowMs: () => number,
    private readonly onLine: (line: string) => void,
  ) {}

  push(text: string): void {
    const parts = (this.rest + this.worthReading(text)).split('\n');
    // A line without end is cut.
    this.rest = (parts.pop() ?? '').slice(0, MAX_LINE_LENGTH);
    for (const part of parts) this.pass(part.slice(0, MAX_LINE_LENGTH).trimEnd());
  }

  /** Without what would be cut of a line anyway, and the lines in its middle that would be left out: what is printed by the megabyte is counted, and its end looked at. */
  private worthReading(text: string): string {
    const isFull = this.lines >= LINES_PER_SECOND && this.nowMs() - this.windowMs < 1000;
    const first = text.indexOf('\n');
    if (first < 0) return text.slice(0, MAX_LINE_LENGTH);
    if (!isFull || text.length <= 2 * MAX_TAIL_LENGTH) return text;
    const last = text.indexOf('\n', text.length - MAX_TAIL_LENGTH);
    if (last <= first) return text;
    for (let at = first; at < last; at = text.indexOf('\n', at + 1)) this.leftOut += 1;
    return text.slice(0, first) + text.slice(last);
  }

  /** Nothing more comes. */
  end(): void {
    this.pass(this.rest);
    this.rest = '';
    this.noteLeftOut();
  }

  /** The last line that named an error a moment ago: why a process ended, most likely. '' when there is none. */
  recentError(): string {
    return this.nowMs() - this.lastErrorMs <= RECENT_MS ? this.lastError : '';
  }

  private pass(line: string): void {
    if (line === '') return;
    const now = this.nowMs();
    // Not the frames of a native stack, which follow it.
    if (/error\b.*: /i.test(line) && !/^\s*\d+: /.test(line)) {
      this.lastError = line;
      this.lastErrorMs = now;
    }
    if (now - this.windowMs >= 1000) {
      this.windowMs = now;
      this.lines = 0;
      this.noteLeftOut();
    }
    if (this.lines < LINES_PER_SECOND) {
      this.lines += 1;
      this.onLine(line);
    } else {
      this.leftOut += 1;
      this.noteTimer ??= setTimeout(() => this.noteLeftOut(), 1000).unref();
    }
  }

  private noteLeftOut(): void {
    clearTimeout(this.noteTimer);
    this.noteTimer = undefined;
    if (this.leftOut > 0)
      this.onLine(`(${this.leftOut} lines left out: more than ${LINES_PER_SECOND} a second)`);
    this.leftOut = 0;
  }
}
