import { SeededRandom } from '../random/index.js';

/**
 * Blocks of a grid, drawn without repetition by a seed, ascending: one from each of `wanted` equal pieces of the grid, so
 * that all of it is seen.
 */
export function sampleBlocks(gridBlocks: number, wanted: number, seed: number): number[] {
  const pieces = Math.min(gridBlocks, wanted);
  const random = new SeededRandom(seed);
  return Array.from({ length: pieces }, (_, piece) => {
    const lo = Math.floor((piece * gridBlocks) / pieces);
    const hi = Math.floor(((piece + 1) * gridBlocks) / pieces);
    return lo + Math.floor(random.share() * (hi - lo));
  });
}
