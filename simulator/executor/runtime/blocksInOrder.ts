import { DRIVER, DRIVER_RESULT, RECORD, REGION_RESULT } from '../compiler/index.js';
import type { BlockRange, KernelFault } from '../types.js';
import type { BlockLaunch } from './blockLaunch.js';
import { BlockScheduler } from './blockScheduler.js';
import { BlockState } from './blockState.js';
import type { TurnsEnd } from './blockTurns.js';
import { CallSize } from './callSize.js';
import { readFault } from './faults.js';
import type { ReadyKernel } from './kernelCache.js';
import type { LaunchArea } from './launchArea.js';

/** Blocks whose threads meet at barriers and in warps, each to its end. */
export class BlocksInOrder {
  private readonly scheduler: BlockScheduler;
  private readonly state: BlockState;

  constructor(
    private readonly area: LaunchArea,
    private readonly launch: BlockLaunch,
    private readonly kernel: ReadyKernel,
    private readonly range: BlockRange,
    /** As in CallSize. */
    private readonly enough?: number,
  ) {
    this.scheduler = new BlockScheduler(area, launch, kernel);
    this.state = new BlockState(area.get(RECORD.threads));
  }

  run(): TurnsEnd {
    const { drive } = this.kernel;
    return drive === undefined ? this.runScheduled() : this.runDriven(drive);
  }

  private runScheduled(): TurnsEnd {
    const { range } = this;
    const size = this.callSize();
    for (let block = range.lo; block < range.hi; block++) {
      this.area.beginBlock(this.launch, block);
      this.state.start(block, 0);
      const end = this.scheduler.turn(this.state);
      if (end.kind === 'fault') return this.faulted(end.fault, block);
      if (size.isEnough(block + 1)) return this.done(block + 1);
    }
    return this.done(range.hi);
  }

  /** The driver runs blocks as far as it can; the scheduler takes a block on until the driver can run it again. */
  private runDriven(drive: NonNullable<ReadyKernel['drive']>): TurnsEnd {
    const { area, range, state } = this;
    const size = this.callSize();
    let isResumed = false;
    for (let block = range.lo; block < range.hi;) {
      const hi = Math.min(range.hi, block + size.blocks);
      if (size.isSingle && !isResumed) area.beginBlock(this.launch, block);
      const result = drive(block, hi, isResumed ? 1 : 0);
      isResumed = false;
      if (result === DRIVER_RESULT.done) {
        block = hi;
        if (size.isEnough(block)) return this.done(block);
        continue;
      }
      block = area.get(DRIVER.block);
      if (result === REGION_RESULT.fault) return this.faulted(readFault(area, this.launch), block);
      state.start(block, 0);
      area.takeBlock(state, result === DRIVER_RESULT.parted ? area.get(DRIVER.warp) : undefined);
      const end = this.scheduler.turn(state, true);
      if (end.kind === 'fault') return this.faulted(end.fault, block);
      if (end.kind === 'together') {
        area.giveBlock(state);
        isResumed = true;
      } else block += 1;
    }
    return this.done(range.hi);
  }

  private callSize(): CallSize {
    return new CallSize(this.area, this.launch, this.kernel.compiled, this.range, this.enough);
  }

  private done(next: number): TurnsEnd {
    return { kind: 'done', blocks: next - this.range.lo };
  }

  private faulted(fault: KernelFault, block: number): TurnsEnd {
    return { kind: 'fault', fault, blocks: block - this.range.lo };
  }
}
