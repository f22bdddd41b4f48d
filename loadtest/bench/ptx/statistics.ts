/** What one run took. */
export interface Timing {
  readonly wallMs: number;
  /** Of the thread that did it: on a machine with other work on it, this is what stays comparable. */
  readonly cpuMs: number;
}

export interface Distribution {
  readonly median: number;
  readonly least: number;
  /** Half the distance from the first quartile to the third, of the median. */
  readonly spread: number;
  readonly count: number;
}

/** @param share from 0 to 1, between samples by their distance */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? NaN;
  const above = sorted[Math.ceil(at)] ?? NaN;
  return below + (above - below) * (at - Math.floor(at));
}

export function distribution(samples: readonly number[]): Distribution {
  const median = quantile(samples, 0.5);
  return {
    median,
    least: quantile(samples, 0),
    spread: (quantile(samples, 0.75) - quantile(samples, 0.25)) / 2 / median,
    count: samples.length,
  };
}
