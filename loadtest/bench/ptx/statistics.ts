import { quantile } from '../../../simulator/statistics/index.js';

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

export function distribution(samples: readonly number[]): Distribution {
  const median = quantile(samples, 0.5);
  return {
    median,
    least: quantile(samples, 0),
    spread: (quantile(samples, 0.75) - quantile(samples, 0.25)) / 2 / median,
    count: samples.length,
  };
}
