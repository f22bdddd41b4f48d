import type { BlockState } from './blockState.js';
import type { LaunchArea } from './launchArea.js';

/** Shared memory of each block starts at a multiple of this. */
const SHARED_ALIGN = 16;

/**
 * The blocks of one cluster in flight: their shared memory, side by side in the node's memory, and the barrier at which their threads
 * arrive and later wait. A thread that has ended counts as arrived.
 */
export class ClusterBlocks {
  /** By rank. */
  private readonly blocks: BlockState[] = [];
  private alive = 0;
  /** Where the shared memory of the first block begins, while it is there. */
  private shared: number | undefined;
  private kept: Uint8Array | undefined;
  private readonly stride: number;
  private readonly bytes: number;

  /** @param sharedBytes of a block @param size how many blocks */
  constructor(
    private readonly area: LaunchArea,
    sharedBytes: number,
    size: number,
  ) {
    this.stride = Math.ceil(sharedBytes / SHARED_ALIGN) * SHARED_ALIGN;
    this.bytes = Math.max(SHARED_ALIGN, this.stride * size);
  }

  /** In the order of ranks. */
  join(block: BlockState): void {
    this.alive |= 1 << this.blocks.length;
    this.blocks.push(block);
    block.cluster = this;
  }

  /** The area has become that of one of its blocks. @throws MemoryError when their shared memory does not fit */
  enter(block: BlockState): void {
    if (this.shared === undefined) {
      this.shared = this.area.allocateShared(this.bytes, this.kept);
      this.kept = undefined;
    }
    this.area.enterCluster(this.blocks.indexOf(block), this.alive, this.shared, this.stride);
  }

  ended(block: BlockState): void {
    this.alive &= ~(1 << this.blocks.indexOf(block));
    if (this.alive === 0) this.release();
    else this.settle();
  }

  /** Nothing of it stays in the node's memory. @param keeps whether it goes on later */
  release(keeps = false): void {
    if (this.shared === undefined) return;
    if (keeps) this.kept = this.area.copyShared(this.shared, this.bytes);
    this.area.releaseShared(this.shared);
    this.shared = undefined;
  }

  /** Opens the barrier where all have arrived, and lets go on who waits for that. */
  settle(): void {
    if (this.isComplete()) {
      for (const { warps, clusterArrived, clusterPassed } of this.blocks) {
        for (let warp = 0; warp < warps; warp++) {
          clusterPassed[warp] = (clusterPassed[warp] ?? 0) | (clusterArrived[warp] ?? 0);
          clusterArrived[warp] = 0;
        }
      }
    }
    for (const block of this.blocks) {
      for (let warp = 0; warp < block.warps; warp++) pass(block, warp);
    }
  }

  /** The first thread that has not arrived, where others wait for it. */
  missing(): { readonly block: BlockState; readonly warp: number; readonly lanes: number } | undefined {
    for (const block of this.blocks) {
      for (let warp = 0; warp < block.warps; warp++) {
        const lanes = (block.alive[warp] ?? 0) & ~(block.clusterArrived[warp] ?? 0);
        if (lanes !== 0) return { block, warp, lanes };
      }
    }
    return undefined;
  }

  private isComplete(): boolean {
    let hasArrived = false;
    for (const { warps, alive, clusterArrived } of this.blocks) {
      for (let warp = 0; warp < warps; warp++) {
        const arrived = clusterArrived[warp] ?? 0;
        if (((alive[warp] ?? 0) & ~arrived) !== 0) return false;
        if (arrived !== 0) hasArrived = true;
      }
    }
    return hasArrived;
  }
}

/** Lanes of a warp that have parted go on each by itself, others all together. */
function pass(block: BlockState, warp: number): void {
  const waiting = block.atCluster[warp] ?? 0;
  const passed = block.clusterPassed[warp] ?? 0;
  const isParted = block.parted[warp] === 1;
  const lanes = isParted || (waiting & ~passed) === 0 ? waiting & passed : 0;
  if (lanes === 0) return;
  block.atCluster[warp] = waiting & ~lanes;
  block.clusterPassed[warp] = passed & ~lanes;
  block.waiting[warp] = (block.waiting[warp] ?? 0) & ~lanes;
  if (isParted) block.released[warp] = (block.released[warp] ?? 0) | lanes;
}
