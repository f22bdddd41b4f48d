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
  const run = runAt(known, block);
  return { work: known[run].work, blocks: alikeBlocks(known, run, block, wanted) };
}

/** The run that a block belongs to. */
export function runAt(known: KnownWork, block: number): number {
  const last = known.length - 1;
  let run = 0;
  while (run < last && known[run].untilBlock <= block) run += 1;
  return run;
}

/** How many blocks from one of a run on, at most `wanted`, do the same. */
export function alikeBlocks(known: KnownWork, run: number, block: number, wanted: number): number {
  return run === known.length - 1 ? wanted : Math.min(wanted, known[run].untilBlock - block);
}
