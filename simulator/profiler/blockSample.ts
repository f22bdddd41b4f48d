/**
 * Blocks of a grid, drawn without repetition by a seed, ascending: one from each of `wanted` equal pieces of the grid, so
 * that all of it is seen.
 */
export function sampleBlocks(gridBlocks: number, wanted: number, seed: number): number[] {
  const pieces = Math.min(gridBlocks, wanted);
  const random = generator(seed);
  return Array.from({ length: pieces }, (_, piece) => {
    const lo = Math.floor((piece * gridBlocks) / pieces);
    const hi = Math.floor(((piece + 1) * gridBlocks) / pieces);
    return lo + Math.floor(random() * (hi - lo));
  });
}

/** Numbers from 0 to below 1: splitmix32. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}
