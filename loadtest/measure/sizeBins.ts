export interface SizeBin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** Whole numbers counted in bins of which two make a power of two: 1, 2, 3, 4, 5-6, 7-8, 9-12, 13-16, … */
export class SizeBins {
  private readonly counts: number[] = [];

  record(size: number): void {
    const at = binOf(size);
    while (this.counts.length <= at) this.counts.push(0);
    this.counts[at] += 1;
  }

  /** From the first to the last that has any. */
  list(): SizeBin[] {
    const bins = this.counts.map((count, at) => ({
      from: at === 0 ? 1 : endOf(at - 1) + 1,
      to: endOf(at),
      count,
    }));
    return bins.slice(
      Math.max(
        0,
        bins.findIndex(({ count }) => count > 0),
      ),
    );
  }
}

function binOf(size: number): number {
  if (size <= 2) return size - 1;
  const power = Math.ceil(Math.log2(size));
  return 2 * power - (size > 0.75 * 2 ** power ? 1 : 2);
}

/** 1, 2, 3, 4, 6, 8, 12, 16, … */
function endOf(bin: number): number {
  if (bin < 2) return bin + 1;
  return bin % 2 === 1 ? 2 ** ((bin + 1) / 2) : 0.75 * 2 ** ((bin + 2) / 2);
}
