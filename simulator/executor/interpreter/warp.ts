import { lanesPerWarp, RegisterFile } from './registerFile.js';

export { forEachLane, lowestLane } from '../lanePaths/index.js';

/**
 * One warp of a block: a program counter and a state for each lane. What takes memory is made when first asked for: of many
 * blocks only the first warps are looked at.
 */
export class Warp {
  /** Lanes that exist and have not exited. */
  live: number;
  /** Lanes that wait at a barrier of the block. */
  atBarrier = 0;
  /** Lanes that wait at a warp-level operation for the members that they named. */
  atWarpSync = 0;
  /** Lanes that wait at the barrier of the cluster. */
  atCluster = 0;
  /** Lanes that have arrived there; and those all of whose threads have, before they have waited. */
  clusterArrived = 0;
  clusterPassed = 0;
  /** Lanes that wait at an operation of whichever lanes are there, until no other lane can step. */
  atGathering = 0;
  private next: Int32Array | undefined;
  private named: Int32Array | undefined;
  private file: RegisterFile | undefined;

  /**
   * @param index of the warp in its block
   * @param block linear index of the block in the grid
   * @param registerCount registers of the function that it runs
   */
  constructor(
    readonly index: number,
    readonly block: number,
    readonly lanes: number,
    private readonly registerCount: number,
  ) {
    this.live = maskOf(lanes);
  }

  /** Next instruction of each lane. */
  get pcs(): Int32Array {
    return (this.next ??= new Int32Array(lanesPerWarp));
  }

  /** Member mask that each waiting lane gave. */
  get members(): Int32Array {
    return (this.named ??= new Int32Array(lanesPerWarp));
  }

  get registers(): RegisterFile {
    return (this.file ??= new RegisterFile(this.registerCount));
  }

  /** Sets where lanes stand. */
  moveTo(lanes: number, pc: number): void {
    if (lanes === -1) {
      this.pcs.fill(pc);
      return;
    }
    for (let rest = lanes; rest !== 0; rest &= rest - 1) this.pcs[31 - Math.clz32(rest & -rest)] = pc;
  }

  /** Lanes that can step now. */
  get ready(): number {
    return this.live & ~this.waiting;
  }

  /** Lanes that wait for others. */
  get waiting(): number {
    return this.atBarrier | this.atCluster | this.atWarpSync | this.atGathering;
  }
}

/** Where a thread stands. */
export interface BarrierPlace {
  /** Number of the block in the grid. */
  readonly block: number;
  readonly warp: number;
  readonly lane: number;
  readonly pc: number;
}

/** The lowest `lanes` bits. */
export function maskOf(lanes: number): number {
  return lanes >= lanesPerWarp ? -1 : (1 << lanes) - 1;
}

/** The lowest `count` lanes of a mask. */
export function firstLanes(mask: number, count: number): number {
  let rest = mask;
  for (let left = count; left > 0 && rest !== 0; left--) rest &= rest - 1;
  return mask & ~rest;
}
