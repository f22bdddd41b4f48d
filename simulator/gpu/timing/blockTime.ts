import type { BlockWork, Capacities } from './blockWork.js';
import { raised, rooted } from './powers.js';

const SHORTEST_NS = 1e-3;

/**
 * A block's time, of what it waits for its turns and what it waits for answers. They overlap only in part: warps that start
 * together wait together. Queues of the device get them out of step, the more often they waited.
 * @param deviceShare how much of the waits for turns are for what all multiprocessors share
 */
export function blockNs(
  throughputNs: number,
  latencyNs: number,
  work: BlockWork,
  limits: Capacities,
  deviceShare = 0,
): number {
  const exponent = joinExponent(work, limits, deviceShare);
  return joinedNs(raised(throughputNs, exponent), raised(latencyNs, exponent), exponent);
}

/** Exponent of the norm that joins the two. */
export function joinExponent(work: BlockWork, limits: Capacities, deviceShare: number): number {
  const { chainExponent, togetherExponent } = limits;
  return togetherExponent + (chainExponent - togetherExponent) * apart(work, limits, deviceShare);
}

/** `blockNs` of both times as raised to that exponent already. */
export function joinedNs(throughputPower: number, latencyPower: number, exponent: number): number {
  return Math.max(rooted(throughputPower + latencyPower, exponent), SHORTEST_NS);
}

/** From 0, all warps wait at the same time, to 1, they wait as it comes. */
function apart(
  { startsTogether, isLoose, rounds = 0 }: BlockWork,
  { driftRounds }: Capacities,
  deviceShare: number,
): number {
  if (startsTogether !== true || isLoose === true) return 1;
  return (deviceShare * rounds ** 2) / (rounds ** 2 + driftRounds ** 2);
}

/**
 * What part of the schedulers' slots and pipes so many warps can use: each warp belongs to one scheduler, so that with five
 * warps one of four schedulers has two, and the others wait for it at the end.
 */
export function schedulerBalance(warps: number, schedulers: number): number {
  return warps / schedulers / Math.ceil(warps / schedulers);
}
