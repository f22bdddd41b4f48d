/** How many lanes a mask holds. */
export function populationCount(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

export function lowestLane(mask: number): number {
  return 31 - Math.clz32(mask & -mask);
}

/** Calls `visit` with each lane of a mask, ascending. */
export function forEachLane(mask: number, visit: (lane: number) => void): void {
  for (let rest = mask; rest !== 0; rest &= rest - 1) visit(lowestLane(rest));
}

/** Bytes that lanes of a warp bring to memory at once. */
const BYTES_AT_ONCE = 128;

/** How many lanes of a warp store at once, when each stores so many bytes: half the warp of 8, a quarter of 16. */
export function storingAtOnce(bytes: number): number {
  return Math.min(32, Math.max(1, Math.floor(BYTES_AT_ONCE / bytes)));
}

/**
 * Calls `visit` with each lane of a mask in the order in which their stores take effect, measured on an H200: of lanes that
 * store to one place at once the lowest one's value stays, and those that store later overwrite it.
 */
export function forEachStoring(mask: number, bytes: number, visit: (lane: number) => void): void {
  const turned = storingAtOnce(bytes) - 1;
  for (let place = 0; place < 32; place++) {
    const lane = place ^ turned;
    if (((mask >>> lane) & 1) === 1) visit(lane);
  }
}
