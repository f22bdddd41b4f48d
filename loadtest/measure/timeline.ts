import type { DefaultReason } from '../../services/prediction/index.js';
import { Durations, type DurationsImage } from './durations.js';
import { addCounts } from './tallies.js';

/** application → model → share of its queries. */
export type SelectionShares = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A window on its way between processes. */
export interface WindowImage {
  readonly arrivals: number;
  readonly answers: number;
  readonly defaults: Partial<Record<DefaultReason, number>>;
  readonly latencies: DurationsImage | undefined;
}

export interface TimelineImage {
  readonly widthNs: number;
  readonly windows: readonly WindowImage[];
}

/** What happened in one stretch of time. */
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

  image(): WindowImage {
    const { arrivals, answers, defaults, latencies } = this;
    return { arrivals, answers, defaults, latencies: latencies?.image() };
  }

  static of({ arrivals, answers, defaults, latencies }: WindowImage): WindowCounts {
    const window = new WindowCounts();
    window.arrivals = arrivals;
    window.answers = answers;
    window.defaults = defaults;
    window.latencies = latencies === undefined ? undefined : Durations.of(latencies);
    return window;
  }

  /** Takes in the window that follows, or another process's of the same time. */
  absorb(next: WindowCounts): void {
    this.arrivals += next.arrivals;
    this.answers += next.answers;
    addCounts(this.defaults, next.defaults);
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

  image(): TimelineImage {
    return { widthNs: this.width, windows: this.list.map((window) => window.image()) };
  }

  /** Takes in what another process has seen in the same time; both have begun with the same width. */
  add({ widthNs, windows }: TimelineImage): void {
    const other = new Timeline(widthNs);
    other.list = windows.map((window) => WindowCounts.of(window));
    while (this.width < other.width) this.halve();
    while (other.width < this.width) other.halve();
    other.list.forEach((window, at) => this.at(at * this.width).absorb(window));
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
