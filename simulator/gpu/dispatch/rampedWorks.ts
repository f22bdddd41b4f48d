import { rampedWork, withoutStarts, type BlockWork } from '../timing/index.js';

interface Ramped {
  /** Shared by all of them: what is kept of these amounts serves each. */
  readonly device: readonly number[];
  blocks: number;
  last: BlockWork;
}

/** Works of blocks that are a launch's first (`rampedWork`): those of equal launches one after the other are the same object. */
export class RampedWorks {
  private readonly kept = new WeakMap<BlockWork, Ramped>();

  constructor(private readonly startsPerCycle: number) {}

  of(work: BlockWork, blocks: number): BlockWork {
    const kept = this.kept.get(work);
    if (kept?.blocks === blocks) return kept.last;
    const device = kept?.device ?? withoutStarts(work.device);
    const last = rampedWork(work, blocks, this.startsPerCycle, device);
    if (kept === undefined) this.kept.set(work, { device, blocks, last });
    else {
      kept.blocks = blocks;
      kept.last = last;
    }
    return last;
  }
}
