/** From a program's text on, in milliseconds. */
export interface StartTimes {
  readonly name: string;
  readonly instructions: number;
  /** Until the results of its launches lie in memory for the first time. */
  readonly firstMs: number;
  /** The same in CPU time of all threads, compilers in the background included. */
  readonly firstCpuMs: number;
  /** Until its launches begin to run at the speed that they keep. */
  readonly steadyMs: number;
}

/** One run of a program's launches: when it began and how long it took. */
export interface TimedRun {
  readonly fromMs: number;
  readonly ms: number;
}

/** Runs in a row whose median must be near the steady one. */
const WINDOW = 5;
const NEAR = 1.25;

/**
 * When a program runs at steady speed: the beginning of the first five runs in a row whose median is within a quarter of
 * the median of the last half of all. NaN when there were fewer runs.
 */
export function steadyFrom(runs: readonly TimedRun[]): number {
  const steady = middle(runs.slice(Math.floor(runs.length / 2)));
  for (let first = 0; first + WINDOW <= runs.length; first++) {
    const window = runs.slice(first, first + WINDOW);
    if (middle(window) <= NEAR * steady) return window[0]?.fromMs ?? NaN;
  }
  return NaN;
}

function middle(runs: readonly TimedRun[]): number {
  const sorted = runs.map(({ ms }) => ms).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}
