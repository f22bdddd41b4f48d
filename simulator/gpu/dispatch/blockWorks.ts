import type { ExecutionCounters } from '../../executor/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import { blockWork, type BlockWork, type KernelProfile, type TrafficPlan } from '../timing/index.js';

interface KeptWorks {
  readonly kernel: KernelProfile;
  /** By the instructions of a block. */
  readonly works: Map<number, BlockWork>;
}

/** Blocks of one plan that execute differently; where more do, all are forgotten. */
const MOST_KEPT = 16;

/**
 * The work of blocks. Those that do the same under the same plan get the same object, so that what others keep of a work is
 * found again at the next launch.
 */
export class BlockWorks {
  private readonly kept = new WeakMap<TrafficPlan, KeptWorks>();

  constructor(private readonly profile: DeviceProfile) {}

  workOf(kernel: KernelProfile, plan: TrafficPlan, counters: ExecutionCounters): BlockWork {
    // Without a trace it depends on all that was counted.
    if (kernel.warpInstructions === 0) return blockWork(kernel, plan, counters, this.profile);
    let kept = this.kept.get(plan);
    if (kept?.kernel !== kernel) this.kept.set(plan, (kept = { kernel, works: new Map() }));
    const instructions = counters.warpInstructions / Math.max(1, counters.blocks);
    let work = kept.works.get(instructions);
    if (work === undefined) {
      work = blockWork(kernel, plan, counters, this.profile);
      if (kept.works.size === MOST_KEPT) kept.works.clear();
      kept.works.set(instructions, work);
    }
    return work;
  }
}
