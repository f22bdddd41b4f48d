/** A value that was observed of a traced query. */
export interface Exemplar {
  readonly traceId: string;
  readonly value: number;
  /** Since 1970. */
  readonly atSeconds: number;
}

/** One histogram's counts: as cheap to add to as counting gets, made cumulative when somebody scrapes. */
export class HistogramTally {
  sum = 0;
  /** Not cumulative; the last is for what is above every bound. */
  readonly counts: Float64Array;
  /** The last one in each bucket; undefined until there is one in any. */
  exemplars: (Exemplar | undefined)[] | undefined;

  /** @param bounds ascending; a value on a bound counts below it. */
  constructor(readonly bounds: readonly number[]) {
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    this.counts[this.bucketOf(value)] += 1;
    this.sum += value;
  }

  /** Of a value that is observed too. */
  keep(exemplar: Exemplar): void {
    this.exemplars ??= [];
    this.exemplars[this.bucketOf(exemplar.value)] = exemplar;
  }

  private bucketOf(value: number): number {
    const { bounds } = this;
    let low = 0;
    let high = bounds.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (value <= bounds[middle]) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The same by fewer bounds. @param bounds some of its own */
  coarse(bounds: readonly number[]): HistogramTally {
    const made = new HistogramTally(bounds);
    made.sum = this.sum;
    let into = 0;
    this.counts.forEach((count, at) => {
      while (into < bounds.length && (this.bounds[at] ?? Infinity) > bounds[into]) into += 1;
      made.counts[into] += count;
    });
    for (const exemplar of this.exemplars ?? []) if (exemplar !== undefined) made.keepLatest(exemplar);
    return made;
  }

  private keepLatest(exemplar: Exemplar): void {
    const there = this.exemplars?.[this.bucketOf(exemplar.value)];
    if (there === undefined || there.atSeconds <= exemplar.atSeconds) this.keep(exemplar);
  }
}
