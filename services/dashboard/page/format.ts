/** A count or rate with three digits at least, and none behind the point that nobody reads. */
export function formatNumber(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toFixed(value < 1e7 ? 1 : 0)}\u00a0M`;
  if (value >= 1e4) return `${(value / 1e3).toFixed(value < 1e5 ? 1 : 0)}\u00a0k`;
  if (value >= 100 || Number.isInteger(value)) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}

export function formatMs(ms: number): string {
  if (ms === 0) return '0';
  if (ms >= 1000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)}\u00a0s`;
  if (ms >= 1) return `${ms.toFixed(ms < 10 ? 1 : 0)}\u00a0ms`;
  return `${(ms * 1000).toFixed(0)}\u00a0µs`;
}

/** A share as percent; small ones with as many digits as it takes to see them. */
export function formatShare(share: number): string {
  const percent = share * 100;
  if (percent === 0) return '0\u00a0%';
  if (percent >= 10) return `${percent.toFixed(0)}\u00a0%`;
  if (percent >= 0.1) return `${percent.toFixed(1)}\u00a0%`;
  if (percent >= 0.001) return `${percent.toFixed(3)}\u00a0%`;
  return '< 0.001\u00a0%';
}

/** @param seconds since 1970 */
export function timeOfDay(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString([], { hourCycle: 'h23' });
}
