import type { Executor, ExecutorLaunch, TraceSink } from '../../executor/index.js';

/** DRAM answers L2 in pieces of two sectors. */
const GRANULE_BYTES = 64;
/** Blocks looked at, at most. */
const MOST_BLOCKS = 2048;
/** Where in the grid they begin: in the middle, sweeps over powers of two come to where new pieces begin. */
const NOWHERE_ROUND = 0.382;
/** Of the first warp of each. */
const MOST_INSTRUCTIONS = 400;
/** Each of them is told as one for each lane at most. */
const MOST_ACCESSES = 32 * MOST_INSTRUCTIONS;

/**
 * Of the granules that successive blocks use, by segment: the share that no other block has used shortly before, so that L2
 * cannot hold it still. The first warp of each block stands for all of it.
 * @param reach blocks whose granules fit into L2 together
 * @param reachTurns accesses of one warp's lanes during which blocks that go side by side ask for no more than fits
 */
export function farShares(
  executor: Executor,
  launch: ExecutorLaunch,
  segmentOf: (address: number) => number,
  lo: number,
  hi: number,
  reach: number,
  reachTurns = Infinity,
): ReadonlyMap<number, number> {
  const window = Math.min(MOST_BLOCKS, Math.max(1, Math.floor(2 * reach)), hi - lo);
  const first = lo + Math.floor((hi - lo - window) * NOWHERE_ROUND);
  const sink = new FirstWarp(segmentOf, reach, reachTurns, first + Math.floor(window / 2));
  executor.trace?.(
    launch,
    Array.from({ length: window }, (_, index) => first + index),
    sink,
  );
  return sink.shares();
}

/** What the first warp of each block uses, and when it was used last. */
class FirstWarp implements TraceSink {
  readonly full = false;
  /** The first warp comes as far as it is looked at before the second ends the block. */
  readonly turn = MOST_INSTRUCTIONS;
  hasBlock = false;
  private block = 0;
  private executed = 0;
  /** Of its first warp so far. */
  private accesses = 0;
  /** Block that used a granule last, and by which of its accesses, as one number. */
  private readonly last = new Map<number, number>();
  private readonly counts = new Map<number, { all: number; far: number }>();

  constructor(
    private readonly segmentOf: (address: number) => number,
    private readonly reach: number,
    private readonly reachTurns: number,
    /** The first block that counts: it has had others before it. */
    private readonly from: number,
  ) {}

  onBlock(block: number): void {
    this.block = block;
    this.executed = this.accesses = 0;
    this.hasBlock = false;
  }

  onInstruction(warp: number): void {
    this.executed += 1;
    if (warp !== 0 || this.executed >= MOST_INSTRUCTIONS) this.hasBlock = true;
  }

  onAccess(
    warp: number,
    _index: number,
    space: 'global' | 'shared',
    _kind: 'load' | 'store' | 'atomic',
    _bytesPerLane: number,
    activeMask: number,
    addresses: Float64Array,
  ): void {
    if (warp !== 0 || space !== 'global') return;
    const segment = this.segmentOf(addresses[31 - Math.clz32(activeMask)]);
    this.accesses += 1;
    const isCounted = this.block >= this.from;
    let count = this.counts.get(segment);
    if (isCounted && count === undefined) this.counts.set(segment, (count = { all: 0, far: 0 }));
    let latest = -1;
    for (let lane = 0; lane < 32; lane++) {
      if (((activeMask >>> lane) & 1) === 0) continue;
      const granule = Math.floor(addresses[lane] / GRANULE_BYTES);
      if (granule === latest) continue;
      latest = granule;
      const before = this.last.get(granule) ?? -Infinity;
      const block = Math.floor(before / MOST_ACCESSES);
      if (block === this.block) continue;
      this.last.set(granule, this.block * MOST_ACCESSES + this.accesses);
      if (!isCounted || count === undefined) continue;
      count.all += 1;
      const isNear =
        this.block - block <= this.reach &&
        Math.abs(this.accesses - (before - block * MOST_ACCESSES)) <= this.reachTurns;
      if (!isNear) count.far += 1;
    }
  }

  shares(): ReadonlyMap<number, number> {
    return new Map([...this.counts].map(([segment, { all, far }]) => [segment, far / Math.max(1, all)]));
  }
}
