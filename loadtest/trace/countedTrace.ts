import type { Draw } from '../../selection/index.js';
import { LoadError } from './loadError.js';

export const SPREADS = ['random', 'even'] as const;
export type Spread = (typeof SPREADS)[number];

/** @throws LoadError naming the ways that there are */
export function checkSpread(text: string): Spread {
  const found = SPREADS.find((one) => one === text);
  if (found === undefined) throw new LoadError('--spread', `'${text}' is none of ${SPREADS.join(', ')}`);
  return found;
}

/** One of the things that are counted in a stretch of time. */
export interface Counted<T> {
  readonly what: T;
  readonly count: number;
}

/**
 * The arrivals of a stretch of which only their number is known, one after the other and never more than one at a time. At random
 * they are what a Poisson process of that number is: independent of each other, and evenly likely everywhere.
 */
export class SpreadArrivals<T> {
  private readonly left: number[];
  private total: number;
  private readonly all: number;

  /** @param from,width of the stretch, in any unit */
  constructor(
    private readonly counted: readonly Counted<T>[],
    private from: number,
    private readonly width: number,
    private readonly spread: Spread,
  ) {
    this.left = counted.map(({ count }) => count);
    this.total = this.left.reduce((sum, count) => sum + count, 0);
    this.all = this.total;
    this.end = from + width;
    this.start = from;
  }

  private readonly end: number;
  private readonly start: number;

  /** undefined: all have come. @param draw for this one arrival */
  next(draw: Draw): { readonly at: number; readonly what: T } | undefined {
    if (this.total === 0) return undefined;
    if (this.spread === 'even') {
      this.from = this.start + (this.width * (this.all - this.total)) / this.all;
    } else {
      // The first of so many that are left, each of which may be anywhere between here and the end.
      this.from += (this.end - this.from) * (1 - (1 - draw()) ** (1 / this.total));
    }
    const what = this.taken(this.left.length > 1 ? draw() : 0);
    return { at: this.from, what };
  }

  /** One of those that are left, each as likely as any other. */
  private taken(draw: number): T {
    let place = draw * this.total;
    this.total -= 1;
    const found = this.left.findIndex((count) => (place -= count) < 0);
    const at = found < 0 ? this.left.findIndex((count) => count > 0) : found;
    this.left[at] -= 1;
    return this.counted[at].what;
  }
}
