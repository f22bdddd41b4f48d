import { LOADED, STORED, type LineTable } from './lineTable.js';

/** DRAM answers L2 in pieces of two sectors, half a line. */
export const GRANULE_BYTES = 64;

/** Which halves of a line were used in one of some ways, as a mask. */
export function halvesOf(uses: number, ways: number): number {
  const used = uses & ways;
  return (used | (used >> STORED.shift)) & LOADED.mask;
}

/** Halves of a segment's lines that were used so. */
export function countOf(lines: LineTable, segment: number, ways: number): number {
  let count = 0;
  for (let place = 0; place < lines.count; place++) {
    if (lines.segments[place] !== segment) continue;
    const halves = halvesOf(lines.uses[place], ways);
    count += (halves & 1) + (halves >> 1);
  }
  return count;
}

/** Their numbers, ascending. */
export function granulesOf(lines: LineTable, segment: number, ways: number): Float64Array {
  const granules = new Float64Array(countOf(lines, segment, ways));
  let count = 0;
  for (let place = 0; place < lines.count; place++) {
    if (lines.segments[place] !== segment) continue;
    const halves = halvesOf(lines.uses[place], ways);
    if ((halves & 1) !== 0) granules[count++] = 2 * lines.lines[place];
    if ((halves & 2) !== 0) granules[count++] = 2 * lines.lines[place] + 1;
  }
  return granules.sort();
}
