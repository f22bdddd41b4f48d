import type { DeviceTiming } from '../profiles/index.js';

/** Bytes that one slice of L2 serves in a row: atomics on them wait for each other. */
export const SLICE_BYTES = 512;

/** How many slices are at work when so many such pieces are hashed over them. */
export function busySlices(pieces: number, timing: DeviceTiming): number {
  const slices = timing.atomicsPerCycle / timing.atomicsPerAddressPerCycle;
  if (!(slices > 1)) return 1;
  return Math.max(1, slices * (1 - (1 - 1 / slices) ** pieces));
}
