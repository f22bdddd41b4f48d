import { describe, expect, it } from 'vitest';
import { leapingSegments } from './segmentPattern.js';
import { newTracedBlock, type TracedBlock } from './tracedBlock.js';

const LINE_BYTES = 128;
const HELD_BYTES = 30e6;

/** A block that loads a word of each of these lines. */
function loading(lines: readonly number[]): TracedBlock {
  const block = newTracedBlock(0, 1, 0);
  for (const line of lines) block.lines.use(block.lines.place(line, 0), 1, true);
  block.asked.set(0, {
    sectorBytes: 32 * lines.length,
    dramBytes: 64 * lines.length,
    partialBytes: 0,
    storedBytes: 0,
  });
  return block;
}

describe('segments in which blocks leap', () => {
  const apart = (bytes: number): number[] =>
    Array.from({ length: 64 }, (_, index) => (index * bytes) / LINE_BYTES);

  it('are larger than what L2 holds', () => {
    expect(leapingSegments([loading(apart(1 << 20))], 1e5, HELD_BYTES)).toEqual([0]);
    expect(leapingSegments([loading(apart(1 << 16))], 1e5, HELD_BYTES)).toEqual([]);
  });

  it('span all that any of the blocks uses', () => {
    const near = apart(1 << 10);
    const far = near.map((line) => line + (1 << 20));
    expect(leapingSegments([loading(near), loading(far)], 1e5, HELD_BYTES)).toEqual([0]);
  });

  it('are none of few blocks, which use less than that', () => {
    expect(leapingSegments([loading(apart(1 << 20))], 64, HELD_BYTES)).toEqual([]);
  });
});
