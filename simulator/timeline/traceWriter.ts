/** What a slice, an instant or a counter tells beside its name. */
export type TraceArgs = Readonly<Record<string, string | number | boolean>>;

export interface TraceWriterOptions {
  /** Characters after which slices, instants and counters are left out, and counted. Default: any number. */
  readonly limit?: number;
}

/** Text is handed on in pieces of about this many characters. */
const PIECE = 32_768;

/**
 * Writes Chrome's trace event format, as Perfetto and chrome://tracing read it: one JSON object, event by event, so that
 * a trace is never in memory as a whole. A slice is written when it is over, as one complete event (`X`), and a wait as
 * both its ends at once: whatever is left out, what is there stays well formed. Times become whole nanoseconds, ends
 * and not durations, so that slices that follow one another do not overlap.
 */
export class TraceWriter {
  private pieces: string[] = [];
  private length = 0;
  private written = 0;
  private hasEvents = false;
  private readonly limit: number;
  /** Events that the limit has left out. */
  dropped = 0;

  /** @param about stands in the file for people */
  constructor(
    private readonly sink: (text: string) => void,
    about: TraceArgs,
    options: TraceWriterOptions = {},
  ) {
    this.limit = options.limit ?? Infinity;
    this.put(`{"displayTimeUnit":"ns","otherData":${JSON.stringify(about)},"traceEvents":[`);
  }

  processName(pid: number, name: string, sortIndex: number): void {
    this.metadata('process_name', pid, 0, { name });
    this.metadata('process_sort_index', pid, 0, { sort_index: sortIndex });
  }

  threadName(pid: number, tid: number, name: string, sortIndex: number): void {
    this.metadata('thread_name', pid, tid, { name });
    this.metadata('thread_sort_index', pid, tid, { sort_index: sortIndex });
  }

  slice(
    pid: number,
    tid: number,
    category: string,
    name: string,
    startNs: number,
    endNs: number,
    args: TraceArgs,
  ): void {
    const start = Math.round(startNs);
    const dur = Math.max(0, Math.round(endNs) - start) / 1000;
    this.event({ ph: 'X', name, cat: category, pid, tid, ts: start / 1000, dur, args });
  }

  instant(pid: number, tid: number, category: string, name: string, atNs: number, args: TraceArgs): void {
    this.event({ ph: 'i', s: 't', name, cat: category, pid, tid, ts: micros(atNs), args });
  }

  /** Something that may overlap others of its name. @param id its own among them */
  span(
    pid: number,
    category: string,
    name: string,
    id: number,
    startNs: number,
    endNs: number,
    args: TraceArgs,
  ): void {
    if (this.isFull(2)) return;
    const event = { name, cat: category, id: `0x${id.toString(16)}`, pid, tid: 0 };
    this.event({ ph: 'b', ...event, ts: micros(startNs), args });
    this.event({ ph: 'e', ...event, ts: micros(Math.max(startNs, endNs)) }, true);
  }

  /** @param series values of one moment, which stand until the next */
  counter(pid: number, name: string, atNs: number, series: TraceArgs): void {
    this.event({ ph: 'C', name, pid, tid: 0, ts: micros(atNs), args: series });
  }

  /** Nothing may follow. */
  end(): void {
    this.put(`\n],"droppedEvents":${this.dropped}}\n`);
    this.flush();
  }

  /** Names come whatever the limit: what is there must be readable. */
  private metadata(kind: string, pid: number, tid: number, args: TraceArgs): void {
    this.event({ ph: 'M', name: kind, pid, tid, ts: 0, args }, true);
  }

  private event(event: object, isNeeded = false): void {
    if (!isNeeded && this.isFull(1)) return;
    this.put(`${this.hasEvents ? ',' : ''}\n${JSON.stringify(event)}`);
    this.hasEvents = true;
  }

  /** @param events that are left out if it is */
  private isFull(events: number): boolean {
    if (this.written + this.length < this.limit) return false;
    this.dropped += events;
    return true;
  }

  private put(text: string): void {
    this.pieces.push(text);
    this.length += text.length;
    if (this.length >= PIECE) this.flush();
  }

  private flush(): void {
    this.written += this.length;
    const text = this.pieces.join('');
    this.pieces = [];
    this.length = 0;
    this.sink(text);
  }
}

function micros(ns: number): number {
  return Math.round(ns) / 1000;
}
