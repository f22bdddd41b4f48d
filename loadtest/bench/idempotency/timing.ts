import { quantile } from '../../../simulator/statistics/index.js';

/** Host times of single calls, in nanoseconds, the timer included. */
export interface CallTimes {
  readonly medianNs: number;
  readonly p99Ns: number;
  readonly mostNs: number;
}

/** Times `runs` calls one by one. */
export function timeCalls(call: () => unknown, runs: number): CallTimes {
  const times = new Float64Array(runs);
  for (let run = 0; run < runs; run++) {
    const begin = performance.now();
    call();
    times[run] = (performance.now() - begin) * 1e6;
  }
  return { medianNs: quantile(times, 0.5), p99Ns: quantile(times, 0.99), mostNs: quantile(times, 1) };
}

/** Of several repeats the one with the least maximum: what else runs on the machine only ever adds. */
export function leastOf(repeats: number, call: () => unknown, runs: number): CallTimes {
  let best = timeCalls(call, runs);
  for (let repeat = 1; repeat < repeats; repeat++) {
    const next = timeCalls(call, runs);
    if (next.mostNs < best.mostNs) best = next;
  }
  return best;
}
