import type { DeviceTiming } from '../profiles/index.js';
import type { TracedBlock } from './tracedBlock.js';
import { WarpTimeline } from './warpTimeline.js';

/** Part of the chain that may be waits for L2 when other warps fill the gaps. */
const LOOSE_WAITS = 0.1;

/** When each warp of a block would get where, were it alone: they meet at barriers. */
export class BlockTimelines {
  private readonly timelines: (WarpTimeline | undefined)[];

  constructor(
    private readonly warps: number,
    private readonly registers: number,
    private readonly timing: DeviceTiming,
  ) {
    this.timelines = new Array<WarpTimeline | undefined>(warps);
  }

  of(warp: number): WarpTimeline {
    return (this.timelines[warp] ??= new WarpTimeline(this.registers, this.timing));
  }

  /** The first warp to go on after a barrier shows that all have arrived: they leave together. */
  releaseBarrier(): void {
    let l2 = 0;
    let dram = 0;
    for (const timeline of this.timelines) {
      if (timeline?.atBarrier !== true) continue;
      l2 = Math.max(l2, timeline.endL2);
      dram = Math.max(dram, timeline.endDram);
    }
    for (const timeline of this.timelines) {
      if (timeline?.atBarrier === true) timeline.leaveBarrier(l2, dram, this.warps);
    }
  }

  /** Tells the block its chain, and whether its warps drift apart. */
  finish(traced: TracedBlock, isLoosened: boolean): void {
    const { blockStartCycles: start, latency, looseBarrierCycles } = this.timing;
    let longestWay = 0;
    for (const timeline of this.timelines) {
      if (timeline === undefined) continue;
      traced.chainL2Cycles = Math.max(traced.chainL2Cycles, start + timeline.endL2);
      traced.chainDramCycles = Math.max(traced.chainDramCycles, start + timeline.endDram);
      longestWay = Math.max(longestWay, timeline.longestWay);
    }
    const { l2, dram } = latency;
    const waits = ((traced.chainDramCycles - traced.chainL2Cycles) / Math.max(1, dram - l2)) * l2;
    traced.rounds = longestWay / Math.max(1, dram - l2);
    traced.isLoose =
      isLoosened &&
      traced.barriers * looseBarrierCycles < traced.chainL2Cycles &&
      waits < LOOSE_WAITS * traced.chainL2Cycles;
  }
}
