export const DEFAULT_MAX_BATCH_SIZE = 1024;
export const LARGEST_MAX_BATCH_SIZE = 65_535;

export function isWhole(value: unknown, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most;
}
