import type { RunResult, WindowResult } from '../result/index.js';

/** A chart of how answers' latencies are distributed, but for its series. */
export const DISTRIBUTION = {
  title: 'Latency distribution',
  note: 'Share of answers, defaults among them, that took so long or less',
  xLabel: 'latency (ms)',
  yLabel: 'share of answers',
  yShare: true,
  xLogarithmic: true,
  steps: true,
} as const;

/** A point in the middle of each window; null: a gap. */
export function points(
  windows: readonly WindowResult[],
  windowSeconds: number,
  value: (window: WindowResult) => number | null,
): (readonly [number, number | null])[] {
  return windows.map((window) => [window.fromSeconds + windowSeconds / 2, value(window)] as const);
}

export function meanBatch({ batches, items }: WindowResult): number | null {
  return batches < 1e-9 ? null : items / batches;
}

/** Of a window, that its rates need. */
const LEAST_PART = 0.2;

/** Windows that rates can be told of: the last may reach beyond the trace, and of one that hardly reaches into it nothing can be said. */
export function windowsOfRates({ windows, windowSeconds, durationSeconds }: RunResult): WindowResult[] {
  return windows.filter(({ fromSeconds }) => fromSeconds < durationSeconds - windowSeconds * LEAST_PART);
}

/** Of what came in a window, as far as the trace reaches into it. */
export function perSecond(
  { windowSeconds, durationSeconds }: RunResult,
  { fromSeconds }: WindowResult,
  count: number,
): number {
  return count / Math.min(windowSeconds, durationSeconds - fromSeconds);
}
