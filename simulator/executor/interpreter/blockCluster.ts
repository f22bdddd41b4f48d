import { LaneFault } from './faults.js';
import type { OffsetMemory } from './memorySpaces.js';
import type { BarrierPlace } from './warp.js';
import { forEachLane, lowestLane, type Warp } from './warp.js';

/** A block as the others of its cluster know it. */
export interface ClusterMember {
  /** Number of the block in the grid. */
  readonly block: number;
  readonly warps: readonly Warp[];
  readonly isDone: boolean;
  readonly shared: OffsetMemory;
  /** Lets lanes go on behind the wait at which they stand. @throws LaneFault */
  passCluster(warp: Warp, lanes: number): void;
}

/** Shared memory that a rank names. */
export type NamedShared =
  | { readonly memory: OffsetMemory; readonly block: number }
  /** The block has ended, or there is none of this rank. */
  | undefined;

/**
 * The blocks of a cluster: their barrier, at which threads arrive and later wait, and their shared memory. A thread that has
 * exited counts as arrived.
 */
export class BlockCluster {
  /** By rank. */
  private readonly members: ClusterMember[] = [];
  /** By rank: how far the cluster had come when the block could not go on. */
  private readonly stalledAt: number[] = [];
  private steps = 0;

  join(member: ClusterMember): void {
    this.members.push(member);
  }

  sharedOf(rank: number): NamedShared {
    const member = this.members[rank];
    return member === undefined || member.isDone ? undefined : { memory: member.shared, block: member.block };
  }

  /** @throws LaneFault */
  arrive(warp: Warp, lanes: number): void {
    if (((warp.clusterArrived | warp.clusterPassed) & lanes) !== 0)
      throw new LaneFault(
        'illegalInstruction',
        'a thread arrives at the barrier of its cluster again before it has waited there',
      );
    warp.clusterArrived |= lanes;
    this.settle();
  }

  /** @throws LaneFault */
  wait(warp: Warp, lanes: number): void {
    if ((lanes & ~(warp.clusterArrived | warp.clusterPassed)) !== 0)
      throw new LaneFault(
        'illegalInstruction',
        'a thread waits at the barrier of its cluster, at which it has not arrived',
      );
    warp.atCluster |= lanes;
    this.settle();
  }

  /** Opens the barrier where all have arrived, and lets go on who waits for that. @throws LaneFault */
  settle(): void {
    const warps = this.members.flatMap((member) => member.warps);
    const isComplete = warps.every(({ live, clusterArrived }) => (live & ~clusterArrived) === 0);
    if (isComplete && warps.some(({ clusterArrived }) => clusterArrived !== 0)) {
      for (const warp of warps) {
        warp.clusterPassed |= warp.clusterArrived;
        warp.clusterArrived = 0;
      }
    }
    for (const member of this.members) {
      for (const warp of member.warps) {
        const lanes = warp.atCluster & warp.clusterPassed;
        if (lanes === 0) continue;
        member.passCluster(warp, lanes);
        warp.atCluster &= ~lanes;
        warp.clusterPassed &= ~lanes;
      }
    }
  }

  /** A block has gone on. */
  moved(): void {
    this.steps++;
  }

  /** A block cannot go on. @returns whether another one still may, so that it can later */
  mayGoOn(rank: number): boolean {
    this.stalledAt[rank] = this.steps;
    return this.members.some((member, other) => !member.isDone && this.stalledAt[other] !== this.steps);
  }

  /** Where a thread waits for the cluster in vain, if any does, and for whom. */
  waitsInVain(): (BarrierPlace & { readonly missing: BarrierPlace | undefined }) | undefined {
    const first = (lanesOf: (warp: Warp) => number): BarrierPlace | undefined => {
      for (const { block, warps } of this.members) {
        for (const warp of warps) {
          const lanes = lanesOf(warp);
          if (lanes === 0) continue;
          const lane = lowestLane(lanes);
          return { block, warp: warp.index, lane, pc: warp.pcs[lane] ?? 0 };
        }
      }
      return undefined;
    };
    const waiting = first(({ live, atCluster }) => live & atCluster);
    if (waiting === undefined) return undefined;
    return { ...waiting, missing: first(({ live, clusterArrived }) => live & ~clusterArrived) };
  }
}

/** Whether all lanes stand at one instruction. */
export function areTogether({ pcs }: Warp, lanes: number): boolean {
  const pc = pcs[lowestLane(lanes)];
  let together = true;
  forEachLane(lanes, (lane) => (together &&= pcs[lane] === pc));
  return together;
}
