import { rampedWork, type BlockWork } from '../timing/index.js';

/** Numbers of blocks kept of each work; then they are forgotten. */
const MOST_KEPT = 8;

/** Works of blocks that are a launch's first (`rampedWork`): equal ones get the same object, as the works themselves do. */
export class RampedWorks {
  private readonly kept = new WeakMap<BlockWork, Map<number, BlockWork>>();

  constructor(private readonly startsPerCycle: number) {}

  of(work: BlockWork, blocks: number): BlockWork {
    let byBlocks = this.kept.get(work);
    if (byBlocks === undefined) this.kept.set(work, (byBlocks = new Map<number, BlockWork>()));
    let ramped = byBlocks.get(blocks);
    if (ramped === undefined) {
      if (byBlocks.size === MOST_KEPT) byBlocks.clear();
      byBlocks.set(blocks, (ramped = rampedWork(work, blocks, this.startsPerCycle)));
    }
    return ramped;
  }
}
