/** Bytes of device memory: region i is [lo[i], hi[i]], inclusive; ascending, apart. Plain data. */
export interface MemoryRegions {
  readonly lo: readonly number[];
  readonly hi: readonly number[];
}

/** What a launch may touch, in intervals that may overlap; see the driver's footprints. */
export interface TouchedIntervals extends MemoryRegions {
  readonly isWrite: readonly boolean[];
}

export interface MappedRange {
  readonly virtualAddress: number;
  readonly bytes: number;
}

/** Intervals in any order, as regions. */
export function regionsOf(intervals: readonly (readonly [number, number])[]): MemoryRegions {
  const lo: number[] = [];
  const hi: number[] = [];
  for (const [from, to] of [...intervals].sort((a, b) => a[0] - b[0])) {
    if (lo.length > 0 && from <= hi[hi.length - 1] + 1) hi[hi.length - 1] = Math.max(hi[hi.length - 1], to);
    else {
      lo.push(from);
      hi.push(to);
    }
  }
  return { lo, hi };
}

/** All that a launch may write, or all that it may read. */
export function side({ lo, hi, isWrite }: TouchedIntervals, writes: boolean): MemoryRegions {
  return regionsOf(
    lo.flatMap((from, index) => (isWrite[index] === writes ? [[from, hi[index]] as const] : [])),
  );
}

export function intersection(a: MemoryRegions, b: MemoryRegions): MemoryRegions {
  const found: [number, number][] = [];
  let other = 0;
  for (let one = 0; one < a.lo.length; one++) {
    while (other < b.lo.length && b.hi[other] < a.lo[one]) other++;
    for (let each = other; each < b.lo.length && b.lo[each] <= a.hi[one]; each++) {
      found.push([Math.max(a.lo[one], b.lo[each]), Math.min(a.hi[one], b.hi[each])]);
    }
  }
  return regionsOf(found);
}

/** Each mapped range by itself: no region leaves it. */
export function mapped(ranges: readonly MappedRange[]): MemoryRegions {
  const sorted = [...ranges].sort((a, b) => a.virtualAddress - b.virtualAddress);
  return {
    lo: sorted.map(({ virtualAddress }) => virtualAddress),
    hi: sorted.map(({ virtualAddress, bytes }) => virtualAddress + bytes - 1),
  };
}

export function bytesOf({ lo, hi }: MemoryRegions): number {
  return lo.reduce((sum, from, index) => sum + hi[index] - from + 1, 0);
}
