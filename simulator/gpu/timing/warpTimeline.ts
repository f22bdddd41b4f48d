import type { DeviceTiming } from '../profiles/index.js';
import type { InstructionPlan } from './instructionPlan.js';

/**
 * When a lone warp would get where. Each instruction starts once its operands are there; within a loop's body the
 * assembler moves loads ahead of what waits for them, across short forward branches too, so little else holds it up: the
 * branches that decide whether it runs at all, and what stands more than a window of instructions before it. A jump backwards waits for all that the iteration has issued: the
 * machine issues in order and loads of the next iteration come behind uses of this one's.
 *
 * Kept twice, for L1 misses that hit L2 and for misses that go to DRAM, because which it is depends on what other
 * launches left in L2.
 */
export class WarpTimeline {
  /** Start of the latest instruction so far. */
  endL2 = 0;
  endDram = 0;
  atBarrier = false;
  private readonly readyL2: Float64Array;
  private readonly readyDram: Float64Array;
  /** Nothing of the present basic block starts earlier. */
  private floorL2 = 0;
  private floorDram = 0;
  private branchL2 = 0;
  private branchDram = 0;
  private iterationL2 = 0;
  private iterationDram = 0;
  private issued = 0;
  private startL2 = 0;
  private startDram = 0;
  private previous = -1;
  /** Latest start among the instructions up to each of the last few. */
  private readonly windowL2: Float64Array;
  private readonly windowDram: Float64Array;
  private slot = 0;
  private latestL2 = 0;
  private latestDram = 0;

  constructor(
    registers: number,
    private readonly timing: DeviceTiming,
  ) {
    this.readyL2 = new Float64Array(registers);
    this.readyDram = new Float64Array(registers);
    this.windowL2 = new Float64Array(timing.schedulingWindow);
    this.windowDram = new Float64Array(timing.schedulingWindow);
  }

  execute(plan: InstructionPlan, index: number): void {
    if (index <= this.previous) this.nextIteration();
    else if (plan.startsBasicBlock) {
      this.floorL2 = Math.max(this.floorL2, this.branchL2);
      this.floorDram = Math.max(this.floorDram, this.branchDram);
    }
    this.previous = index;
    this.issued += plan.cost.slots * this.timing.warpIssueCycles;
    const { slot } = this;
    let startL2 = Math.max(this.floorL2, this.windowL2[slot]);
    let startDram = Math.max(this.floorDram, this.windowDram[slot]);
    for (const register of plan.reads) {
      if (this.readyL2[register] > startL2) startL2 = this.readyL2[register];
      if (this.readyDram[register] > startDram) startDram = this.readyDram[register];
    }
    this.startL2 = startL2;
    this.startDram = startDram;
    for (const register of plan.writes) {
      this.readyL2[register] = startL2 + plan.cost.latencyCycles;
      this.readyDram[register] = startDram + plan.cost.latencyCycles;
    }
    if (plan.isBranch) {
      this.branchL2 = startL2 + this.timing.latency.branch;
      this.branchDram = startDram + this.timing.latency.branch;
    }
    // A warp issues no faster than its turn comes, whatever the operands allow.
    this.endL2 = Math.max(this.endL2, startL2, this.iterationL2 + this.issued);
    this.endDram = Math.max(this.endDram, startDram, this.iterationDram + this.issued);
    this.windowL2[slot] = this.latestL2 = Math.max(this.latestL2, startL2);
    this.windowDram[slot] = this.latestDram = Math.max(this.latestDram, startDram);
    this.slot = slot + 1 === this.windowL2.length ? 0 : slot + 1;
    if (plan.isBarrier) this.atBarrier = true;
  }

  /** Says how long the memory instruction executed last took to answer. */
  resolve(plan: InstructionPlan, l2Cycles: number, dramCycles: number): void {
    for (const register of plan.writes) {
      this.readyL2[register] = this.startL2 + l2Cycles;
      this.readyDram[register] = this.startDram + dramCycles;
    }
  }

  leaveBarrier(l2: number, dram: number): void {
    this.atBarrier = false;
    this.endL2 = l2 + this.timing.latency.barrier;
    this.endDram = dram + this.timing.latency.barrier;
    this.restart();
  }

  private nextIteration(): void {
    this.endL2 = Math.max(this.endL2, this.branchL2);
    this.endDram = Math.max(this.endDram, this.branchDram);
    this.restart();
  }

  private restart(): void {
    this.floorL2 = this.branchL2 = this.iterationL2 = this.endL2;
    this.floorDram = this.branchDram = this.iterationDram = this.endDram;
    this.issued = 0;
  }
}
