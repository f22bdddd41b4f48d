import type { DeviceTiming } from '../profiles/index.js';
import type { InstructionPlan } from './instructionPlan.js';

/**
 * When a lone warp would get where: each instruction starts once its operands are there, free within its basic block
 * (the assembler moves loads to the block's front), in order from block to block. Kept twice, for L1 misses that hit
 * L2 and for misses that go to DRAM, because which it is depends on what other launches left in L2.
 */
export class WarpTimeline {
  endL2 = 0;
  endDram = 0;
  atBarrier = false;
  private readonly readyL2: Float64Array;
  private readonly readyDram: Float64Array;
  private blockL2 = 0;
  private blockDram = 0;
  private issued = 0;
  private startL2 = 0;
  private startDram = 0;

  constructor(
    registers: number,
    private readonly timing: DeviceTiming,
  ) {
    this.readyL2 = new Float64Array(registers);
    this.readyDram = new Float64Array(registers);
  }

  execute(plan: InstructionPlan): void {
    if (plan.startsBasicBlock) {
      this.blockL2 = this.endL2;
      this.blockDram = this.endDram;
      this.issued = 0;
    }
    this.issued += plan.cost.slots * this.timing.warpIssueCycles;
    let startL2 = this.blockL2;
    let startDram = this.blockDram;
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
    const turn = plan.isBranch ? this.timing.latency.branch : 0;
    // A warp issues no faster than its turn comes, whatever the operands allow.
    this.endL2 = Math.max(this.endL2, startL2 + turn, this.blockL2 + this.issued);
    this.endDram = Math.max(this.endDram, startDram + turn, this.blockDram + this.issued);
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
    this.endL2 = this.blockL2 = l2 + this.timing.latency.barrier;
    this.endDram = this.blockDram = dram + this.timing.latency.barrier;
    this.issued = 0;
  }
}
