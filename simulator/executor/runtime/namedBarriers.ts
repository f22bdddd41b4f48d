import { populationCount } from '../lanePaths/index.js';
import type { BlockState } from './blockState.js';

/** Most threads that a block's barrier can count are whole warps. */
export const BARRIERS = 16;

/** A barrier of a block that counts its arrivals. */
export interface NamedBarrier {
  readonly number: number;
  /** Threads that it waits for. */
  count: number;
  /** Arrivals of threads that went on at once. */
  arrived: number;
  /** Lanes of each warp that wait. */
  readonly lanes: Map<number, number>;
  readonly votes: BarrierVotes;
}

/** Predicates that came with the arrivals of a reduction. */
export interface BarrierVotes {
  threads: number;
  holds: number;
}

export function barrierOf(block: BlockState, number: number, count: number): NamedBarrier {
  let found = block.barriers.get(number);
  if (found === undefined) {
    found = { number, count, arrived: 0, lanes: new Map(), votes: { threads: 0, holds: 0 } };
    block.barriers.set(number, found);
  }
  // Threads that come to one barrier name one count.
  found.count = count;
  return found;
}

/** What a group of lanes counts: a warp none of whose living lanes is missing counts as a whole one. */
export function contribution(block: BlockState, warp: number, lanes: number): number {
  return ((block.alive[warp] ?? 0) & ~lanes) === 0 ? 32 : populationCount(lanes);
}

export function isComplete(block: BlockState, barrier: NamedBarrier): boolean {
  let total = barrier.arrived;
  for (const [warp, lanes] of barrier.lanes) total += contribution(block, warp, lanes);
  return total >= barrier.count;
}
