import type { LaunchShape } from '../../executor/index.js';
import type { IrModule } from '../../ptx/index.js';

/** One argument of a launch: bytes as they are, or an address inside one of the instance's allocations. */
export type InstanceArgument =
  | { readonly bytes: Uint8Array }
  /** `offset` in bytes from the allocation's start; negative or past its end is allowed, as for a host's pointer. */
  | { readonly allocation: number; readonly offset: number };

/**
 * One launch with everything that it depends on: code, dimensions, arguments and the memory that it finds. Each allocation
 * is a segment of its own, so that leaving it faults.
 */
export interface LaunchInstance {
  readonly ir: IrModule;
  readonly entry: string;
  readonly shape: LaunchShape;
  /** What each allocation holds before the launch. */
  readonly allocations: readonly Uint8Array[];
  /** By parameter of the kernel, in order. */
  readonly args: readonly InstanceArgument[];
}
