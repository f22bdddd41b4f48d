import type { DeviceTiming } from '../profiles/index.js';

/** What goes to one slice in a row. */
const PIECE_BYTES = 256;
/** Of pieces so long together, every other one goes to the same slice. */
const WINDOW_BYTES = 1024;
const PIECES = 2;

/** Bytes that one slice has of such a window: atomic operations on them wait for each other. */
export const SLICE_BYTES = WINDOW_BYTES / PIECES;

/** Number of what of an address' window goes to the same slice. */
export function slicePart(address: number): number {
  return Math.floor(address / WINDOW_BYTES) * PIECES + (Math.floor(address / PIECE_BYTES) % PIECES);
}

/** Address of a part's first piece. */
export function addressOfPart(part: number): number {
  return Math.floor(part / PIECES) * WINDOW_BYTES + (part % PIECES) * PIECE_BYTES;
}

/** So many parts, and whether they lie side by side. */
export interface Parts {
  readonly count: number;
  readonly isDense: boolean;
}

/**
 * How many slices are at work when parts are hashed over them: as many as would share all of it evenly in the time of the
 * fullest. The hash spreads neighbours evenly over groups of slices; of more parts, the fullest has one more than the mean.
 */
export function busySlices({ count, isDense }: Parts, timing: DeviceTiming): number {
  const slices = timing.atomicsPerCycle / timing.atomicsPerAddressPerCycle;
  if (!(slices > 1) || count <= 1) return 1;
  const others = ((count - 1) / (isDense ? EVEN_GROUP : 1)) ** 2;
  return count / (1 + count / slices + (MOST_OVER * others) / (others + HALF_OVER ** 2));
}

/** Parts that the fullest slice has beyond that, and with how many others it has half of it. */
const MOST_OVER = 0.9;
const HALF_OVER = 12;
/** Parts side by side that come out even count as one. */
const EVEN_GROUP = 4;
