import type { TraceArgs, TraceWriter } from './traceWriter.js';

/** Where a process's tracks get their numbers. */
export class TrackNumbers {
  private next = 1;

  take(): number {
    return this.next++;
  }
}

/**
 * Slices of one thing, in order of their ends, on as many rows as overlap at a time: rows of a trace hold slices that
 * follow one another. A slice goes to the row that has been free for the shortest time, which needs the fewest rows.
 */
export class Track {
  private readonly rows: { readonly tid: number; endNs: number }[] = [];

  constructor(
    private readonly writer: TraceWriter,
    private readonly numbers: TrackNumbers,
    private readonly pid: number,
    private readonly name: string,
    private readonly category: string,
    /** Place among the tracks of its process. */
    private readonly order: number,
  ) {}

  slice(name: string, startNs: number, endNs: number, args: TraceArgs): void {
    const start = Math.round(startNs);
    let row: { readonly tid: number; endNs: number } | undefined;
    for (const each of this.rows) {
      if (each.endNs <= start && (row === undefined || each.endNs > row.endNs)) row = each;
    }
    row ??= this.addRow();
    row.endNs = Math.round(endNs);
    this.writer.slice(this.pid, row.tid, this.category, name, startNs, endNs, args);
  }

  instant(name: string, atNs: number, args: TraceArgs): void {
    const [row = this.addRow()] = this.rows;
    this.writer.instant(this.pid, row.tid, this.category, name, atNs, args);
  }

  private addRow(): { readonly tid: number; endNs: number } {
    const tid = this.numbers.take();
    const row = { tid, endNs: -Infinity };
    this.rows.push(row);
    const count = this.rows.length;
    const name = count === 1 ? this.name : `${this.name} (${count})`;
    this.writer.threadName(this.pid, tid, name, this.order * 1000 + count);
    return row;
  }
}
