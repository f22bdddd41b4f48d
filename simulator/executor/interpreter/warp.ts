import { lanesPerWarp, RegisterFile } from './registerFile.js';

/** Why a lane cannot step: it waits for the block, or for other lanes of its warp. */
export type LaneState = 'ready' | 'atBarrier' | 'atWarpSync' | 'exited';

/** One warp of a block: a program counter and a state for each lane. */
export class Warp {
  /** Next instruction of each lane. */
  readonly pcs = new Int32Array(lanesPerWarp);
  /** Lanes that exist and have not exited. */
  live: number;
  /** Lanes that wait at a barrier of the block. */
  atBarrier = 0;
  /** Lanes that wait at a warp-level operation. */
  atWarpSync = 0;
  /** Member mask that each waiting lane gave. */
  readonly members = new Int32Array(lanesPerWarp);
  readonly registers: RegisterFile;

  constructor(
    readonly index: number,
    readonly lanes: number,
    registerCount: number,
  ) {
    this.registers = new RegisterFile(registerCount);
    this.live = maskOf(lanes);
  }

  /** Lanes that can step now. */
  get ready(): number {
    return this.live & ~this.atBarrier & ~this.atWarpSync;
  }
}

/** The lowest `lanes` bits. */
export function maskOf(lanes: number): number {
  return lanes >= lanesPerWarp ? -1 : (1 << lanes) - 1;
}

/** Calls `visit` with each lane of a mask, ascending. */
export function forEachLane(mask: number, visit: (lane: number) => void): void {
  for (let rest = mask; rest !== 0; rest &= rest - 1) visit(31 - Math.clz32(rest & -rest));
}

export function lowestLane(mask: number): number {
  return 31 - Math.clz32(mask & -mask);
}
