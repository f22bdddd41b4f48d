import type { DeviceTiming } from '../profiles/index.js';
import { MEMORY_SPACES, type InstructionPlan } from './instructionPlan.js';

/** When all that an mbarrier has been told of was there. */
export interface Arrival {
  l2: number;
  dram: number;
}

/**
 * When a lone warp would get where. The machine issues in order; within what the assembler orders as one piece each
 * instruction starts once its operands are there, because loads stand ahead of what waits for them. What follows starts
 * after all of it has been issued: a turn of a loop, too, but for the copies of a body that stand in a row.
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
  /** Nothing of the present piece starts earlier. */
  private floorL2 = 0;
  private floorDram = 0;
  private issued = 0;
  private startL2 = 0;
  private startDram = 0;
  /** A branch was taken or not since the piece began: its latency lies before the next piece. */
  private branched = false;
  /** When the last result so far is there. */
  private answeredL2 = 0;
  private answeredDram = 0;
  private turns = 0;
  private piece = -1;
  /** When the last few loads answered: another needs the registers of one that was used. */
  private readonly windowL2: Float64Array;
  private readonly windowDram: Float64Array;
  private slot = 0;
  /** When the last few operations of formulas started: none starts before the one that many ahead of it. */
  private readonly aheadL2: Float64Array;
  private readonly aheadDram: Float64Array;
  private turn = 0;
  /** By memory: from which register the latest stores start, and when the last of these and of all others start. */
  private readonly storeBase = new Int32Array(MEMORY_SPACES.length).fill(-1);
  private readonly storeL2 = new Float64Array(MEMORY_SPACES.length);
  private readonly storeDram = new Float64Array(MEMORY_SPACES.length);
  private readonly otherL2 = new Float64Array(MEMORY_SPACES.length);
  private readonly otherDram = new Float64Array(MEMORY_SPACES.length);
  /** When what the copy engine has been asked for is there. */
  private copiedL2 = 0;
  private copiedDram = 0;
  /** How much longer misses to DRAM made the way to the last barrier, and the longest way between two. */
  private metAt = 0;
  private longest = 0;

  constructor(
    registers: number,
    private readonly timing: DeviceTiming,
  ) {
    this.readyL2 = new Float64Array(registers);
    this.readyDram = new Float64Array(registers);
    this.aheadL2 = new Float64Array(timing.lookAhead);
    this.aheadDram = new Float64Array(timing.lookAhead);
    this.windowL2 = new Float64Array(timing.schedulingWindow);
    this.windowDram = new Float64Array(timing.schedulingWindow);
  }

  /** @param index its place; what the copy engine does takes no time of the warp */
  execute(plan: InstructionPlan, index: number): void {
    if (plan.isEngine) return;
    if (plan.startsRegion) this.enter(index, plan.copies);
    if (plan.fenceCycles > 0) this.fence(plan.fenceCycles);
    this.issued += plan.cost.slots * this.timing.warpIssueCycles;
    let startL2 = this.floorL2;
    let startDram = this.floorDram;
    if (plan.isLoad) {
      startL2 = Math.max(startL2, this.windowL2[this.slot]);
      startDram = Math.max(startDram, this.windowDram[this.slot]);
    }
    for (const register of plan.reads) {
      if (this.readyL2[register] > startL2) startL2 = this.readyL2[register];
      if (this.readyDram[register] > startDram) startDram = this.readyDram[register];
    }
    if (plan.order >= 0) {
      const { order } = plan;
      const isOther = plan.base < 0 || this.storeBase[order] !== plan.base;
      if (plan.isStore) {
        if (isOther) {
          this.otherL2[order] = Math.max(this.otherL2[order], this.storeL2[order]);
          this.otherDram[order] = Math.max(this.otherDram[order], this.storeDram[order]);
          this.storeL2[order] = this.storeDram[order] = 0;
          this.storeBase[order] = plan.base;
        }
        this.storeL2[order] = Math.max(this.storeL2[order], startL2);
        this.storeDram[order] = Math.max(this.storeDram[order], startDram);
      } else {
        startL2 = Math.max(startL2, this.otherL2[order], isOther ? this.storeL2[order] : 0);
        startDram = Math.max(startDram, this.otherDram[order], isOther ? this.storeDram[order] : 0);
      }
    }
    if (plan.isFormula) {
      startL2 = Math.max(startL2, this.aheadL2[this.turn]);
      startDram = Math.max(startDram, this.aheadDram[this.turn]);
      this.aheadL2[this.turn] = startL2;
      this.aheadDram[this.turn] = startDram;
      this.turn = this.turn + 1 === this.aheadL2.length ? 0 : this.turn + 1;
    }
    this.startL2 = startL2;
    this.startDram = startDram;
    for (const register of plan.writes) {
      this.readyL2[register] = startL2 + plan.cost.latencyCycles;
      this.readyDram[register] = startDram + plan.cost.latencyCycles;
    }
    if (plan.isBranch) this.branched = true;
    // A warp issues no faster than its turn comes, whatever the operands allow.
    this.endL2 = Math.max(this.endL2, startL2, this.floorL2 + this.issued);
    this.endDram = Math.max(this.endDram, startDram, this.floorDram + this.issued);
    if (plan.isBarrier) this.atBarrier = true;
  }

  /** Says how long the memory instruction executed last took to answer. */
  resolve(plan: InstructionPlan, l2Cycles: number, dramCycles: number): void {
    if (plan.isEngine) {
      this.copiedL2 = Math.max(this.copiedL2, this.endL2 + l2Cycles);
      this.copiedDram = Math.max(this.copiedDram, this.endDram + dramCycles);
      return;
    }
    if (plan.isLoad) {
      this.windowL2[this.slot] = this.startL2 + l2Cycles;
      this.windowDram[this.slot] = this.startDram + dramCycles;
      this.slot = this.slot + 1 === this.windowL2.length ? 0 : this.slot + 1;
    }
    if (plan.writes.length > 0) {
      this.answeredL2 = Math.max(this.answeredL2, this.startL2 + l2Cycles);
      this.answeredDram = Math.max(this.answeredDram, this.startDram + dramCycles);
    }
    for (const register of plan.writes) {
      this.readyL2[register] = this.startL2 + l2Cycles;
      this.readyDram[register] = this.startDram + dramCycles;
    }
  }

  /** An arrival at an mbarrier: of the copy before it, or of the warp. */
  arrive({ isEngine }: InstructionPlan, arrivals: Arrival): void {
    arrivals.l2 = Math.max(arrivals.l2, isEngine ? this.copiedL2 : this.endL2);
    arrivals.dram = Math.max(arrivals.dram, isEngine ? this.copiedDram : this.endDram);
  }

  /** Resolves a look at an mbarrier, which sees its phase over once all has arrived. */
  await(plan: InstructionPlan, { l2, dram }: Arrival, cycles: number): void {
    this.resolve(plan, Math.max(cycles, l2 - this.startL2), Math.max(cycles, dram - this.startDram));
  }

  /** The instruction executed last is a loop that took so long: what follows is not brought before it. */
  endLoop(cycles: number): void {
    this.endL2 = Math.max(this.endL2, this.startL2 + cycles);
    this.endDram = Math.max(this.endDram, this.startDram + cycles);
    this.restart();
  }

  /** All that was asked for before has been answered, and all that was written is there. */
  private fence(cycles: number): void {
    this.endL2 = Math.max(this.endL2, this.answeredL2) + cycles;
    this.endDram = Math.max(this.endDram, this.answeredDram) + cycles;
    this.restart();
  }

  leaveBarrier(l2: number, dram: number, warps: number): void {
    this.atBarrier = false;
    this.longest = this.longestWay;
    this.metAt = dram - l2;
    const cycles = this.timing.latency.barrier + warps * this.timing.latency.barrierWarp;
    this.endL2 = l2 + cycles;
    this.endDram = dram + cycles;
    this.restart();
  }

  /** The most that misses to DRAM cost between two barriers. */
  get longestWay(): number {
    return Math.max(this.longest, this.endDram - this.endL2 - this.metAt);
  }

  private enter(index: number, copies: number): void {
    const isSame = index === this.piece;
    this.piece = index;
    this.turns = isSame ? this.turns + 1 : 0;
    if (isSame && this.turns % copies !== 0) return;
    if (this.branched) {
      this.endL2 += this.timing.latency.branch;
      this.endDram += this.timing.latency.branch;
      this.branched = false;
    }
    this.restart();
  }

  private restart(): void {
    this.floorL2 = this.endL2;
    this.floorDram = this.endDram;
    this.issued = 0;
  }
}
