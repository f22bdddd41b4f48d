import type { WindowResult } from '../result/index.js';

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
