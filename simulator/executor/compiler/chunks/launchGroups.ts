import type { Dim3 } from '../../types.js';

/** Groups of four lanes that a chunk may have, best first. */
const CHOICES = [8, 4, 2, 1] as const;
/** Part of a row of threads that may be left to run lane by lane for the sake of wider chunks. */
const MOST_LEFT = 1 / 8;

/**
 * How many groups of four lanes of a block may run together at most: the lanes of a chunk have neighbouring %tid.x and the
 * same %tid.y and %tid.z. 0 when rows are too short or odd.
 */
export function mostGroups([x, y, z]: Dim3): number {
  const isRow = y === 1 && z === 1;
  for (const groups of CHOICES) {
    const left = x % (4 * groups);
    if (left === 0 || (isRow && left <= x * MOST_LEFT)) return groups;
  }
  return isRow && x >= 4 ? 1 : 0;
}
