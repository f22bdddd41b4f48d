import type { RequestShape } from '../../executor/index.js';
import type { DeviceTiming } from '../profiles/index.js';

const LINE_BYTES = 128;
/** Of Knuth's linear congruential generator; its low bits repeat soon. */
const LCG_FACTOR = 1664525;
const LCG_STEP = 1013904223;
const LCG_WEAK_BITS = 8;

/** Pages of virtual memory that a block's requests go to, and how often where one lies is known no longer. */
export class PageUse {
  readonly all = new Set<number>();
  /** Pages of requests that were not among those that are known. */
  misses = 0;
  private readonly near = new Set<number>();
  /** Those, each at a place of its own. */
  private readonly places: number[] = [];
  private draws = 1;

  note({ lines, lineNumbers }: RequestShape, { pageBytes, nearPages }: DeviceTiming): void {
    const linesPerPage = pageBytes / LINE_BYTES;
    let latest = -1;
    for (let index = 0; index < lines; index++) {
      const page = Math.floor(lineNumbers[index] / linesPerPage);
      if (page === latest) continue;
      latest = page;
      if (!this.near.has(page)) this.miss(page, nearPages);
    }
  }

  private miss(page: number, nearPages: number): void {
    this.misses += 1;
    this.all.add(page);
    let place = this.places.length;
    if (place >= nearPages) {
      // Not the oldest: going round twice as many leaves a fifth of them known.
      this.draws = Math.imul(this.draws, LCG_FACTOR) + LCG_STEP;
      place = (this.draws >>> LCG_WEAK_BITS) % nearPages;
      this.near.delete(this.places[place]);
    }
    this.places[place] = page;
    this.near.add(page);
  }
}

/**
 * Pages that a block asks all multiprocessors' table for, because its own multiprocessor knows no longer where they are. What
 * its blocks use together is known from one to the next if it is not too much.
 */
export function farPages(blocks: readonly PageUse[], resident: number, { nearPages }: DeviceTiming): number {
  const [{ all }, mate] = blocks;
  const others = mate === undefined ? 0 : [...mate.all].filter((page) => !all.has(page)).length;
  if (all.size + (resident - 1) * others <= nearPages) return 0;
  return blocks.reduce((sum, { misses }) => sum + misses, 0) / blocks.length;
}
