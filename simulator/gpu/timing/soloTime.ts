import { joinExponent, joinedNs, schedulerBalance } from './blockTime.js';
import type { BlockWork, Capacities } from './blockWork.js';
import { SCHEDULED } from './issueTurns.js';
import { raised } from './powers.js';

/** Time of a block's chain, at the clock of these limits. */
export function chainNs({ chainCycles, chainFixedNs }: BlockWork, { cyclesPerNs }: Capacities): number {
  return chainCycles / cyclesPerNs + chainFixedNs;
}

/** The power sum of what an SM limits of a block alone; fewer warps than schedulers leave issue slots that it cannot use. */
export function soloSmPower(
  { sm, warps }: BlockWork,
  limits: Capacities,
  exponent: number,
  schedulers: number,
): number {
  let power = 0;
  for (let index = 0; index < sm.length; index++) {
    if (sm[index] === 0) continue;
    const usable = index < SCHEDULED ? schedulerBalance(warps, schedulers) : 1;
    power += raised(sm[index] / (limits.sm[index] * usable), exponent);
  }
  return power;
}

/** The same of what the device limits. */
export function soloDevicePower({ device }: BlockWork, limits: Capacities, exponent: number): number {
  let power = 0;
  for (let index = 0; index < device.length; index++) {
    if (device[index] > 0) power += raised(device[index] / limits.device[index], exponent);
  }
  return power;
}

/** A block with the device to itself. */
export interface SoloTime {
  readonly soloNs: number;
  readonly chainNs: number;
  /** Exponent of the norm that joins its chain with its turns, and the chain's time raised to it. */
  readonly joinExponent: number;
  readonly chainPower: number;
}

/** Of both power sums. */
export function soloTime(
  work: BlockWork,
  smPower: number,
  devicePower: number,
  limits: Capacities,
  exponent: number,
): SoloTime {
  const power = smPower + devicePower;
  const joining = joinExponent(work, limits, power > 0 ? devicePower / power : 0);
  const chain = chainNs(work, limits);
  const chainPower = raised(chain, joining);
  const soloNs = joinedNs(power ** (joining / exponent), chainPower, joining);
  return { soloNs, chainNs: chain, joinExponent: joining, chainPower };
}
