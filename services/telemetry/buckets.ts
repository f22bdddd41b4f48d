/** Half a millisecond to a minute: what a latency objective may be, densest where objectives are. */
export const LATENCY_SECONDS = [
  0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60,
] as const;

/** Of an answer's latency in its objective: below 1 it is in time, and the densest part is around it. */
export const OBJECTIVE_SHARES = [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1, 1.05, 1.1, 1.25, 1.5, 2, 4] as const;

/** 10 us to 10 s: a batch's wait, its service on a GPU, its round trip. */
export const BATCH_SECONDS = [
  0.00001, 0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 10,
] as const;

export const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096] as const;

/** In each decade: what lies between two of them is known within 8 %. */
const FINE_PER_DECADE = 16;
const FINE_DECADES = { first: -5, last: 2 };

/** 10 us to 100 s, for percentiles: the bounds of `LATENCY_SECONDS` and many between them. */
export const FINE_SECONDS: readonly number[] = fineSeconds();

function fineSeconds(): number[] {
  const bounds = new Set<number>(LATENCY_SECONDS);
  const { first, last } = FINE_DECADES;
  for (let step = first * FINE_PER_DECADE; step <= last * FINE_PER_DECADE; step++) {
    bounds.add(Number((10 ** (step / FINE_PER_DECADE)).toPrecision(6)));
  }
  return [...bounds].sort((a, b) => a - b);
}
