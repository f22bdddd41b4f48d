import { TURNS, type LongTask } from './turns.js';

/** Many of one thing, one after the other. */
export interface Series {
  readonly count: number;
  /** Of what the client sent, for all of them. */
  readonly bytes: number;
  /** Does one; must not throw. */
  each(index: number): void;
  /** Nobody waits any more: the rest is left. */
  isGone(): boolean;
}

/** So few are done at once, in a millisecond or two: what a client sends together reaches a model together. */
const FEW = 256;
const FEW_BYTES = 64 * 1024;

/** Of a step: to find out whose turn it is takes as long as some of them. */
const STEP = 8;

/** Does them all, in order: a few at once, many in slices between which others are served. */
export function eachInTurns(series: Series): void {
  if (series.count > FEW || series.bytes > FEW_BYTES) {
    TURNS.run(new SeriesTask(series));
    return;
  }
  for (let index = 0; index < series.count && !series.isGone(); index++) series.each(index);
}

class SeriesTask implements LongTask {
  private next = 0;

  constructor(private readonly series: Series) {}

  get remaining(): number {
    const { bytes, count } = this.series;
    return (bytes / count) * (count - this.next);
  }

  step(): boolean {
    const { series } = this;
    const end = Math.min(series.count, this.next + STEP);
    while (this.next < end) {
      if (series.isGone()) return true;
      series.each(this.next);
      this.next += 1;
    }
    return this.next === series.count;
  }
}
