import type { PtxRun } from './ptxRun.js';

const LEAST_MS = 600;
const MOST_MS = 5000;
/** Runs that must bring nothing any more over the best before them. */
const IDLE_RUNS = 4;
const GAIN = 0.95;

/**
 * Runs until the compiler has nothing better any more: on a busy machine its background threads may come late.
 * @returns the runs that it took
 */
export function warmUp(run: Pick<PtxRun, 'run'>): number {
  let [best, idle, spent, runs] = [Infinity, 0, 0, 0];
  while ((idle < IDLE_RUNS || spent < LEAST_MS) && spent < MOST_MS) {
    const { wallMs, cpuMs } = run.run().timing;
    idle = cpuMs < GAIN * best ? 0 : idle + 1;
    best = Math.min(best, cpuMs);
    spent += wallMs;
    runs += 1;
  }
  return runs;
}
