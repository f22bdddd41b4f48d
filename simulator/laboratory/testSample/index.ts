/**
 * Every so many of a sweep's cases, and those that are to be among them: tests run a sample, and with `WINDJAMMER_TESTS=all` in
 * the environment all there is.
 */
export function sampleOf<T>(
  all: readonly T[],
  oneIn: number,
  isKept: (each: T) => boolean = () => false,
): readonly T[] {
  if (process.env.WINDJAMMER_TESTS === 'all') return all;
  return all.filter((each, index) => index % oneIn === 0 || isKept(each));
}

/** How often a sweep goes round: `sample` times, and with `WINDJAMMER_TESTS=all` in the environment `all` times. */
export function roundsOf(all: number, sample: number): number {
  return process.env.WINDJAMMER_TESTS === 'all' ? all : sample;
}
