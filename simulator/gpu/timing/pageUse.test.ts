import { describe, expect, it } from 'vitest';
import type { RequestShape } from '../../executor/index.js';
import { profileNamed } from '../profiles/index.js';
import { farPages, PageUse } from './pageUse.js';

const { timing } = profileNamed('h200');
const LANES = 32;
const LINES_PER_PAGE = timing.pageBytes / 128;

/** Of a block whose warps each load from one line of so many pages, one after the other from some page on. */
function loading(requests: number, pagesOf: (request: number) => readonly number[]): PageUse {
  const use = new PageUse();
  for (let request = 0; request < requests; request++) {
    const pages = pagesOf(request);
    const shape: RequestShape = {
      wavefronts: 1,
      parts: 1,
      sectors: pages.length,
      lines: pages.length,
      lineNumbers: Float64Array.from(pages, (page) => page * LINES_PER_PAGE),
      sectorMasks: new Int32Array(pages.length).fill(1),
    };
    use.note(shape, timing);
  }
  return use;
}

const from = (first: number, count: number): number[] => Array.from({ length: count }, (_, at) => first + at);

describe('pages of virtual memory', () => {
  const round = (pages: number) => loading(16, (request) => from((request * LANES) % pages, LANES));

  it('that a multiprocessor goes round are asked for each time if they are more than it remembers', () => {
    expect(farPages([round(256), round(256)], 8, timing) / (16 * LANES)).toBeGreaterThan(0.98);
    expect(farPages([round(timing.nearPages), round(timing.nearPages)], 8, timing)).toBe(0);
  });

  it('are known in part of twice as many', () => {
    // Measured: going round 64 pairs of pages, 53 G pairs a second, of which 43 G are asked for.
    const twice = loading(200, (request) => from((request * LANES) % (2 * LANES), LANES));
    expect(farPages([twice, twice], 8, timing) / (200 * LANES)).toBeCloseTo(0.8, 1);
  });

  it('that its blocks use together count together', () => {
    const own = (first: number): PageUse => loading(4, () => from(first, 8));
    expect(farPages([own(0), own(0)], 8, timing)).toBe(0);
    expect(farPages([own(0), own(100)], 8, timing)).toBe(8);
    expect(farPages([own(0), own(100)], 2, timing)).toBe(0);
  });

  it('are one a request, however many of its lanes go there, and none while a block stays on them', () => {
    const sweep = loading(1000, (request) => [Math.floor(request / 10)]);
    expect(farPages([sweep], 1, timing)).toBe(100);
  });
});
