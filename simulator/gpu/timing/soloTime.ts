import { blockNs, schedulerBalance } from './blockTime.js';
import type { BlockWork, Capacities } from './blockWork.js';
import { SCHEDULED } from './issueTurns.js';

/** Time of a block's chain, at the clock of these limits. */
export function chainNs({ chainCycles, chainFixedNs }: BlockWork, { cyclesPerNs }: Capacities): number {
  return chainCycles / cyclesPerNs + chainFixedNs;
}

/** A block's time with the device to itself; fewer warps than schedulers leave issue slots that it cannot use. */
export function soloTimeNs(
  work: BlockWork,
  limits: Capacities,
  exponent: number,
  schedulers: number,
): number {
  let power = 0;
  for (let index = 0; index < work.sm.length; index++) {
    if (work.sm[index] === 0) continue;
    const usable = index < SCHEDULED ? schedulerBalance(work.warps, schedulers) : 1;
    power += (work.sm[index] / (limits.sm[index] * usable)) ** exponent;
  }
  for (let index = 0; index < work.device.length; index++) {
    if (work.device[index] > 0) power += (work.device[index] / limits.device[index]) ** exponent;
  }
  return blockNs(power ** (1 / exponent), chainNs(work, limits), work, limits);
}
