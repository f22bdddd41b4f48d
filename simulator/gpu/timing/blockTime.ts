import type { BlockWork, Capacities } from './blockWork.js';

/**
 * A block's time, of what it waits for its turns and what it waits for answers. They overlap only in part: warps that start
 * together wait together.
 */
export function blockNs(
  throughputNs: number,
  latencyNs: number,
  { startsTogether, isLoose }: BlockWork,
  { chainExponent, togetherExponent }: Capacities,
): number {
  const exponent = startsTogether === true && isLoose !== true ? togetherExponent : chainExponent;
  const joined = (throughputNs ** exponent + latencyNs ** exponent) ** (1 / exponent);
  return Math.max(joined, 1e-3);
}

/**
 * What part of the schedulers' slots and pipes so many warps can use: each warp belongs to one scheduler, so that with five
 * warps one of four schedulers has two, and the others wait for it at the end.
 */
export function schedulerBalance(warps: number, schedulers: number): number {
  return warps / schedulers / Math.ceil(warps / schedulers);
}
