/** Where a launch is to be struck by a transient fault. Plain data. */
export interface FaultPoint {
  /** Number of the block that is struck. */
  readonly block: number;
  /** How much of that block is done then, in [0, `LATEST_PART`]. */
  readonly part: number;
  /**
   * What is wrong before the fault is noticed: of the last byte that the block has stored until then, this bit (0 to 7) is the
   * other way round. Undefined: nothing is.
   */
  readonly flippedBit?: number;
}

/** Blocks that are nearer to their end than this come to it together with others. */
export const LATEST_PART = 0.98;
