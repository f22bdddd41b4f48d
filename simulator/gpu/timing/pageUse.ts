import type { RequestShape } from '../../executor/index.js';
import type { DeviceTiming } from '../profiles/index.js';
import type { TracedBlock } from './tracedBlock.js';

const LINE_BYTES = 128;

/** Pages of virtual memory that a block's requests go to, and how often where one lies is known no longer. */
export class PageUse {
  readonly all = new Set<number>();
  /** Pages of requests that were not among the latest. */
  misses = 0;
  /** The latest, oldest first. */
  private readonly near = new Set<number>();

  note({ lines, lineNumbers }: RequestShape, { pageBytes, nearPages }: DeviceTiming): void {
    const linesPerPage = pageBytes / LINE_BYTES;
    let latest = -1;
    for (let index = 0; index < lines; index++) {
      const page = Math.floor(lineNumbers[index] / linesPerPage);
      if (page === latest) continue;
      latest = page;
      if (!this.near.delete(page)) this.miss(page, nearPages);
      this.near.add(page);
    }
  }

  private miss(page: number, nearPages: number): void {
    this.misses += 1;
    this.all.add(page);
    if (this.near.size < nearPages) return;
    for (const oldest of this.near) {
      this.near.delete(oldest);
      return;
    }
  }
}

/**
 * Pages that a block asks all multiprocessors' table for, because its own multiprocessor knows no longer where they are. What
 * its blocks use together is known from one to the next if it is not too much.
 */
export function farPages(
  traced: readonly TracedBlock[],
  resident: number,
  { nearPages }: DeviceTiming,
): number {
  const [first, mate] = traced;
  const { all } = first.pages;
  const others = mate === undefined ? 0 : [...mate.pages.all].filter((page) => !all.has(page)).length;
  if (all.size + (resident - 1) * others <= nearPages) return 0;
  return traced.reduce((sum, { pages }) => sum + pages.misses, 0) / traced.length;
}
