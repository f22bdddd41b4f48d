/**
 * The nearest-rank quantile: the least of the values that at least a share of them does not exceed; of an even number of values the
 * median is the lower of the two in the middle. Always a value that occurred. @param share 0 to 1; @returns NaN of no values
 */
export function quantile(values: ArrayLike<number>, share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? NaN;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
