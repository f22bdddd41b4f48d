import type { LaneFault } from './faults.js';
import type { AccessKind } from './laneInstructions.js';
import type { Location, ResolvedSpace } from './memorySpaces.js';
import type { Warp } from './warp.js';

/** What a lane asks of memory. */
export interface LaneAccess {
  readonly space: ResolvedSpace;
  readonly address: number;
  readonly bytes: number;
  readonly kind: AccessKind;
}

/** Sees every step of the interpreter. A warp's `block` tells which block of the grid a call is about. */
export interface InterpreterObserver {
  /** A block of the launch starts. */
  onBlock?(block: number): void;
  /** All threads of a block have exited. */
  onBlockEnd?(block: number): void;
  /** Lanes of a warp step instruction `pc`; `active` of them pass its guard. */
  onStep?(warp: Warp, pc: number, lanes: number, active: number): void;
  /** A branch sends lanes of one step two ways. */
  onDivergence?(warp: Warp, pc: number): void;
  /** A lane's access to memory, after its step was told; `location` holds the bytes as they are before it. */
  onAccess?(
    warp: Warp,
    pc: number,
    lane: number,
    space: ResolvedSpace,
    address: number,
    bytes: number,
    kind: AccessKind,
    location: Location,
  ): void;
  /**
   * In place of `onAccess`, where lanes access one piece of memory: all of them at once. The bytes are as before it, and
   * the addresses of other lanes than these mean nothing.
   */
  onAccesses?(
    warp: Warp,
    pc: number,
    lanes: number,
    space: ResolvedSpace,
    addresses: Float64Array,
    bytes: number,
    kind: AccessKind,
  ): void;
  /**
   * In place of `onAccess`, where what a lane accesses is shared memory of another block of its cluster: the block's number, and the
   * offset there.
   */
  onRemoteAccess?(
    warp: Warp,
    pc: number,
    lane: number,
    block: number,
    offset: number,
    bytes: number,
    kind: AccessKind,
    location: Location,
  ): void;
  /**
   * A lane's access is not allowed. True lets the lane go on: a load gives zeros, a store or atomic changes nothing.
   * Otherwise the kernel ends with the fault.
   */
  onAccessFault?(warp: Warp, pc: number, lane: number, access: LaneAccess, fault: LaneFault): boolean;
  /** A lane comes to barrier `id` of its block. `count` is what the instruction asks for; one that only arrives does not wait.
   * Told before either is checked. */
  onBarrierArrive?(
    warp: Warp,
    pc: number,
    lane: number,
    id: number,
    count: number | undefined,
    waits: boolean,
  ): void;
  /** Barrier `id` of a block opens, for every live thread of the block or for some; those that wait have not moved yet. */
  onBarrierOpen?(block: number, id: number, isWholeBlock: boolean): void;
  /** Lanes arrive at the barrier of their cluster, or begin to wait there. Told before it is checked. */
  onClusterBarrier?(warp: Warp, pc: number, lanes: number, what: 'arrive' | 'wait'): void;
  /** Lanes have waited at the barrier of their cluster until it opened, and go on. */
  onClusterPass?(warp: Warp, lanes: number): void;
  /**
   * A lane has been given `bytes` bytes of the device heap, or is about to give back the chunk at `address`: `bytes` is
   * then its size, or 0 when no live chunk starts there, which ends the kernel.
   */
  onHeap?(
    warp: Warp,
    pc: number,
    lane: number,
    what: 'malloc' | 'free',
    address: number,
    bytes: number,
  ): void;
  /** Lanes of a warp have met at a warp-level operation. */
  onWarpSync?(warp: Warp, pc: number, group: number): void;
  /** True once nothing more need run. */
  readonly full?: boolean;
  /** True once nothing more need run of the block that started last, where blocks run one after another. */
  readonly hasBlock?: boolean;
}
