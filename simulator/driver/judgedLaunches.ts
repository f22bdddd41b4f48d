import type { LaunchCommand } from './launchClasses.js';

/** How many launches of a context have their verdicts kept; the oldest makes room. */
export const KEPT_VERDICTS = 1024;

/** A verdict depends on nothing but code, arguments and dimensions: what is launched again so has the one that was kept. */
export class JudgedLaunches {
  /** @param kept hashes of launches, oldest first: plain data of the context */
  constructor(private readonly kept: Set<number>) {}

  /** Keeps a launch. @returns whether it was kept already */
  keep(command: LaunchCommand): boolean {
    const { kept } = this;
    const hash = launchHash(command);
    if (kept.has(hash)) return true;
    kept.add(hash);
    const [oldest] = kept;
    if (kept.size > KEPT_VERDICTS && oldest !== undefined) kept.delete(oldest);
    return false;
  }
}

/** Two FNV-1a hashes of 26 bits, side by side in a number. Equal hashes of other launches cost time, and no verdict. */
function launchHash({ args: { module, kernel, grid, block, params } }: LaunchCommand): number {
  let [low, high] = [0x811c9dc5, 0x01000193];
  const add = (value: number): void => {
    low = Math.imul(low ^ value, 0x01000193);
    high = Math.imul(high ^ value, 0x85ebca6b);
    high ^= high >>> 13;
  };
  add(module);
  for (let at = 0; at < kernel.length; at++) add(kernel.charCodeAt(at));
  for (const each of grid) add(each);
  for (const each of block) add(each);
  for (const byte of params) add(byte);
  return (high >>> 6) * 2 ** 26 + (low >>> 6);
}
