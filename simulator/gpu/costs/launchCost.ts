import type { LaunchVerdict } from '../../scheduling/index.js';
import type { BlockWork, KernelProfile } from '../timing/index.js';

/** What each block of a run of neighbours executes. */
export interface BlockCounts {
  readonly warpInstructions: number;
  readonly threadInstructions: number;
}

/** What the blocks of one launch cost, without anything that executes them. Plain data. */
interface CostOfBlocks {
  /** Runs of equal blocks, in the grid's order: each ends before this block; the last one is the grid's number of blocks. */
  readonly ends: readonly number[];
  /** A block of each run. */
  readonly counts: readonly BlockCounts[];
}

/** As a functional run found it: work against which counts are held, and traffic that depends on what L2 holds. */
export interface ProfiledCost extends CostOfBlocks {
  readonly kind: 'profiled';
  readonly profile: KernelProfile;
}

/** Work that is known as it is, whatever caches hold: of kernels that nobody has run here. */
export interface FixedCost extends CostOfBlocks {
  readonly kind: 'fixed';
  readonly work: BlockWork;
  readonly verdict?: LaunchVerdict | undefined;
  /** Of a block. */
  readonly contextBytes?: number | undefined;
}

export type LaunchCost = ProfiledCost | FixedCost;

/** The run that a block is in. */
export function runOf({ ends }: LaunchCost, block: number): number {
  let run = 0;
  while (run < ends.length - 1 && block >= ends[run]) run += 1;
  return run;
}
