import type { TraceArgs, TraceWriter } from './traceWriter.js';

/** Values that stand until they change; of several at one moment the last one is written. */
export class CounterTrack {
  private pending: { readonly atNs: number; readonly series: TraceArgs; readonly text: string } | undefined;
  private last = '';

  constructor(
    private readonly writer: TraceWriter,
    private readonly pid: number,
    private readonly name: string,
  ) {}

  set(atNs: number, series: TraceArgs): void {
    const now = Math.round(atNs);
    if (this.pending !== undefined && this.pending.atNs < now) this.flush();
    this.pending = { atNs: now, series, text: JSON.stringify(series) };
  }

  flush(): void {
    const { pending } = this;
    this.pending = undefined;
    if (pending === undefined || pending.text === this.last) return;
    this.last = pending.text;
    this.writer.counter(this.pid, this.name, pending.atNs, pending.series);
  }
}
