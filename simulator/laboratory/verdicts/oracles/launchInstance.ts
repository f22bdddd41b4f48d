import type { LaunchShape } from '../../../executor/index.js';
import type { IrModule } from '../../../ptx/index.js';

/** An address that stands in bytes: of `offset` bytes from the start of an allocation (past its end is allowed, too). */
export interface PlacedPointer {
  /** Where in the bytes it stands, little-endian, 8 bytes. */
  readonly at: number;
  readonly allocation: number;
  readonly offset: number;
}

/** One argument of a launch: its bytes, and the addresses that stand among them. */
export interface InstanceArgument {
  readonly bytes: Uint8Array;
  readonly pointers?: readonly PlacedPointer[];
}

/** What an allocation holds before the launch. */
export interface InstanceAllocation {
  readonly bytes: Uint8Array;
  readonly pointers?: readonly PlacedPointer[];
}

/**
 * One launch with everything that it depends on: code, dimensions, arguments and the memory that it finds. Each allocation
 * is a segment of its own, so that leaving it faults.
 */
export interface LaunchInstance {
  readonly ir: IrModule;
  readonly entry: string;
  readonly shape: LaunchShape;
  readonly allocations: readonly InstanceAllocation[];
  /** By parameter of the kernel, in order. */
  readonly args: readonly InstanceArgument[];
}
