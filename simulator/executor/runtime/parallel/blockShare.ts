import { AREA, CLASS_COUNTERS, COUNTER_BYTES, REGION_RESULT } from '../../compiler/index.js';
import type { BlockRange, KernelFault } from '../../types.js';
import type { BlockLaunch } from '../blockLaunch.js';
import { BlocksInOrder } from '../blocksInOrder.js';
import { faultOf } from '../faults.js';
import type { ReadyKernel } from '../kernelCache.js';
import type { LaunchArea } from '../launchArea.js';
import type { BlockQueue } from './blockQueue.js';

/** A turn: blocks that were taken together, and the counters before them. */
interface Turn {
  readonly lo: number;
  readonly counters: Uint8Array;
}

/** One thread's share of a launch: takes blocks from the queue and runs them in its area until there are none. */
export class BlockShare {
  private readonly turns: Turn[] = [];
  private readonly countersEnd: number;
  /** The fault of this share's blocks. */
  fault: KernelFault | undefined;

  /** @param first block of the grid that the queue calls 0. */
  constructor(
    private readonly area: LaunchArea,
    private readonly launch: BlockLaunch,
    private readonly kernel: ReadyKernel,
    private readonly queue: BlockQueue,
    private readonly first: number,
  ) {
    this.countersEnd = CLASS_COUNTERS + kernel.compiled.counters.length * COUNTER_BYTES;
  }

  /** @param taken blocks that have been taken for it already. */
  run(taken = this.queue.take()): void {
    const { queue, first, area } = this;
    for (let turn = taken; turn !== undefined; turn = queue.take()) {
      this.turns.push({ lo: turn.lo, counters: area.copy(AREA.counters, this.countersEnd) });
      const faulted = this.runBlocks({ lo: first + turn.lo, hi: first + turn.hi });
      if (faulted === undefined) continue;
      this.fault = faulted.fault;
      queue.stopAt(faulted.block - first);
      return;
    }
  }

  /** The launch has ended at this block: blocks behind it do not count. */
  forgetFrom(block: number): void {
    const late = this.turns.find(({ lo }) => lo > block);
    if (late !== undefined) this.area.put(AREA.counters, late.counters);
  }

  private runBlocks(range: BlockRange): { fault: KernelFault; block: number } | undefined {
    const { run } = this.kernel;
    if (run === undefined) {
      const end = new BlocksInOrder(this.area, this.launch, this.kernel, range).run();
      return end.kind === 'fault' ? { fault: end.fault, block: range.lo + end.blocks } : undefined;
    }
    if (run(range.lo, range.hi) !== REGION_RESULT.fault) return undefined;
    return faultOf(this.area, this.launch);
  }
}
