import type { DefaultReason } from '../../services/prediction/index.js';
import { Durations } from './durations.js';

/** application → model → share of its queries. */
export type SelectionShares = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** What happened in one stretch of simulated time. */
export class WindowCounts {
  arrivals = 0;
  answers = 0;
  defaults: Partial<Record<DefaultReason, number>> = {};
  batches = 0;
  items = 0;
  /** Of answers, defaults among them. */
  latencies: Durations | undefined;
  /** At the window's end. */
  shares: SelectionShares | undefined;

  answer(latencyNs: number, reason: DefaultReason | undefined): void {
    this.answers += 1;
    if (reason !== undefined) this.defaults[reason] = (this.defaults[reason] ?? 0) + 1;
    this.latencies ??= new Durations(2);
    this.latencies.record(latencyNs);
  }

  /** Takes in the window that follows. */
  absorb(next: WindowCounts): void {
    this.arrivals += next.arrivals;
    this.answers += next.answers;
    for (const [reason, count] of Object.entries(next.defaults) as [DefaultReason, number][]) {
      this.defaults[reason] = (this.defaults[reason] ?? 0) + count;
    }
    this.batches += next.batches;
    this.items += next.items;
    if (this.latencies === undefined) this.latencies = next.latencies;
    else if (next.latencies !== undefined) this.latencies.add(next.latencies);
    this.shares = next.shares ?? this.shares;
  }
}

const MOST_WINDOWS = 240;

/** Windows of equal width that cover a run of any length: when they become too many, every two become one. */
export class Timeline {
  private list: WindowCounts[] = [];

  /** @param widthNs to begin with. */
  constructor(private width: number) {}

  get widthNs(): number {
    return this.width;
  }

  get windows(): readonly WindowCounts[] {
    return this.list;
  }

  /** The window of a moment. */
  at(ns: number): WindowCounts {
    while (ns >= this.width * MOST_WINDOWS) this.halve();
    const at = Math.floor(ns / this.width);
    while (this.list.length <= at) this.list.push(new WindowCounts());
    return this.list[at];
  }

  private halve(): void {
    const halved: WindowCounts[] = [];
    this.list.forEach((window, at) => {
      if (at % 2 === 0) halved.push(window);
      else halved[halved.length - 1].absorb(window);
    });
    this.list = halved;
    this.width *= 2;
  }
}

/** A width of 1, 2 or 5 times a power of ten that makes about a hundred windows of a duration. */
export function windowWidthNs(durationNs: number | undefined): number {
  if (durationNs === undefined) return 1e7;
  const wanted = durationNs / 120;
  const power = 10 ** Math.floor(Math.log10(wanted));
  for (const factor of [1, 2, 5]) if (factor * power >= wanted) return factor * power;
  return 10 * power;
}
