import type { IrInstruction } from '../../../ptx/index.js';
import type { AccessCaches, MemorySurroundings } from '../accesses/index.js';
import { spaceOf } from '../instructions/index.js';
import type { KernelPlan } from '../plan/index.js';
import type { FaultExit } from '../regions/index.js';
import { readsLaneSpecials, type ChunkMemory, type VectorOperands } from '../vector/index.js';
import type { ChunkCounters } from './chunkCounters.js';
import type { ChunkThreads } from './chunkThreads.js';

/** What accesses of a chunk find around them: of all its lanes, of one, and of one that stands for all. */
export class ChunkAccesses {
  /** The lane, in the chunk, that code is written for; undefined for all of them. */
  private lane: number | undefined;

  constructor(
    private readonly plan: KernelPlan,
    private readonly v: VectorOperands,
    private readonly threads: ChunkThreads,
    private readonly caches: AccessCaches,
    private readonly counters: ChunkCounters,
    private readonly faults: FaultExit,
  ) {}

  /** The lane, in the chunk, that the following code is of; undefined for all of them. */
  beginLane(lane: number | undefined, instruction: IrInstruction): void {
    this.lane = lane;
    if (lane === undefined) return;
    if (readsLaneSpecials(instruction)) this.threads.setOne(lane);
    if (/^(?:local|generic)$/.test(spaceOf(instruction.modifiers))) this.threads.setOneLocalMemory(lane);
  }

  /** Of vector code. */
  ofChunk(): ChunkMemory {
    const { f } = this.v;
    const { without } = this.plan.form;
    return {
      ...this.ofLanes(1),
      localBase: () => this.threads.localMemory,
      joinsNeighbours: without?.has('contiguous') !== true,
      bundlesLoads: without?.has('accessBundles') !== true,
      leaveLaneWithFault: (instruction, lane) => {
        f.get(this.threads.first.lane).get(lane).op('i32Add').set(this.faults.lane);
        this.faults.leave(instruction.index);
      },
    };
  }

  /** Of scalar code. @param times how many lanes an access that is written once stands for */
  ofLanes(times: number): MemorySurroundings {
    const { plan, v, faults } = this;
    const { f } = v;
    return {
      sharedLayout: plan.sharedLayout,
      localLayout: plan.localLayout,
      meetsInCluster: false,
      caches: this.caches,
      localBase: () => this.threads.oneLocalMemory,
      countBytes: (what, bytes) => {
        this.counters.countBytes(
          what,
          typeof bytes === 'number' && (times === 1 || !v.isMasked)
            ? bytes * times
            : () => {
                if (typeof bytes === 'number') f.i32(bytes);
                else bytes();
                if (times === 1) return;
                this.pushLanes(times);
                f.op('i32Mul');
              },
        );
      },
      leaveWithFault: (instruction) => {
        f.get(this.threads.first.lane);
        if (this.lane === undefined && v.isMasked) f.get(v.activeBits()).op('i32Ctz');
        else f.i32(this.lane ?? 0);
        f.op('i32Add').set(faults.lane);
        faults.leave(instruction.index);
      },
      recordAccess: () => undefined,
      noteWrite: () => undefined,
    };
  }

  /** Pushes how many of the chunk's lanes are active. */
  private pushLanes(all: number): void {
    const { v } = this;
    if (v.isMasked) v.f.get(v.activeBits()).op('i32Popcnt');
    else v.f.i32(all);
  }
}
