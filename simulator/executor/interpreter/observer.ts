import type { AccessKind } from './laneInstructions.js';
import type { Warp } from './warp.js';

/** Sees every step of the interpreter. */
export interface InterpreterObserver {
  /** A block of the launch starts. */
  onBlock?(block: number): void;
  /** Lanes of a warp step instruction `pc`; `active` of them pass its guard. */
  onStep?(warp: Warp, pc: number, lanes: number, active: number): void;
  /** A branch sends lanes of one step two ways. */
  onDivergence?(warp: Warp, pc: number): void;
  /** A lane's access to memory, after its step was told. */
  onAccess?(
    warp: Warp,
    pc: number,
    lane: number,
    space: 'global' | 'shared' | 'local' | 'param',
    address: number,
    bytes: number,
    kind: AccessKind,
  ): void;
  /** True once nothing more need run. */
  readonly full?: boolean;
}
