/**
 * What a device has done since counting began, in its own time: sums that only grow, so that the difference of two tells
 * what was between them. Plain data.
 */
export interface DeviceUsage {
  readonly asOfNs: number;
  /** Cycles of the SM clock that have passed. */
  readonly smCycles: number;
  /** Time with a block on the device. */
  readonly busyNs: number;
  /** The same of each SM, added up over the SMs. */
  readonly smBusyNs: number;
  /** Resident warps, summed over time. */
  readonly warpNs: number;
  /** Blocks that have run to their end. */
  readonly blocks: number;
  /** What blocks have used of their SMs, in the order and units of `SM_RESOURCES`; of unfinished ones the part that is done. */
  readonly sm: readonly number[];
  /** The same of what all share, in the order of `DEVICE_RESOURCES`. */
  readonly device: readonly number[];
  readonly contexts: readonly ContextUsage[];
}

/** A context's part of its device's `warpNs`. */
export interface ContextUsage {
  readonly context: number;
  readonly warpNs: number;
}
