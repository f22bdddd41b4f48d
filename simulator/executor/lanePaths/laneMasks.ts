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
