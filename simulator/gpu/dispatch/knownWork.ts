import type { BlockWork } from '../timing/index.js';

/**
 * What the blocks of a launch do that runs no code: copies and fills by SMs, kernels of which only the cost is known. Runs of
 * equal blocks, by the first block after each, ascending; the last serves to the end of the grid. Plain data.
 */
export type KnownWork = readonly { readonly untilBlock: number; readonly work: BlockWork }[];

/** All blocks alike. */
export function uniformWork(work: BlockWork): KnownWork {
  return [{ untilBlock: Infinity, work }];
}

/** The work of a block, and how many from it on, at most `wanted`, do the same. */
export function knownFrom(
  known: KnownWork,
  block: number,
  wanted: number,
): { readonly work: BlockWork; readonly blocks: number } {
  const last = known.length - 1;
  let index = 0;
  while (index < last && known[index].untilBlock <= block) index += 1;
  const { untilBlock, work } = known[index];
  return { work, blocks: index === last ? wanted : Math.min(wanted, untilBlock - block) };
}
