import { nsBetween } from './timestamp.js';
import type { TraceRow, TraceRows, WrittenTime } from './traceRows.js';

/** More than a load generator writes down in the second that it holds results back. */
const ROWS_HELD = 65_536;

/** Rows by time, of a file whose rows may come somewhat early or late: what is held in memory is bounded. */
export class NearlySorted implements TraceRows {
  private readonly held: TraceRow[] = [];
  private taken = 0;
  private ended = false;

  constructor(private readonly rows: TraceRows) {}

  get timeName(): string {
    return this.rows.timeName;
  }

  get unit(): TraceRows['unit'] {
    return this.rows.unit;
  }

  get whenEmpty(): string {
    return this.rows.whenEmpty;
  }

  next(): TraceRow | undefined {
    while (!this.ended && this.held.length - this.taken < ROWS_HELD) {
      const row = this.rows.next();
      if (row === undefined) this.ended = true;
      else this.put(row);
    }
    if (this.taken >= this.held.length) return undefined;
    const row = this.held[this.taken++];
    if (this.taken === ROWS_HELD) {
      this.held.splice(0, this.taken);
      this.taken = 0;
    }
    return row;
  }

  progress(): number | undefined {
    return this.rows.progress();
  }

  problem(text: string): ReturnType<TraceRows['problem']> {
    return this.rows.problem(text);
  }

  close(): void {
    this.rows.close();
  }

  /** Behind those that are not later: mostly at the end. */
  private put(row: TraceRow): void {
    let at = this.taken;
    let end = this.held.length;
    if (end > at && !isBefore(row.time, this.held[end - 1].time)) at = end;
    while (at < end) {
      const middle = (at + end) >> 1;
      if (isBefore(row.time, this.held[middle].time)) end = middle;
      else at = middle + 1;
    }
    if (at === this.held.length) this.held.push(row);
    else this.held.splice(at, 0, row);
  }
}

/** Dates and numbers cannot be compared, and are told apart later. */
export function isBefore(one: WrittenTime, other: WrittenTime): boolean {
  if ('date' in one) return 'date' in other && nsBetween(other.date, one.date) < 0;
  return 'number' in other && Number(one.number) < Number(other.number);
}
