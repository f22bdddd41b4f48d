import { fairShare } from './fairShare.js';
import { pathNs } from './memoryPath.js';
import type { BlockWork, Capacities } from './blockWork.js';
import { classRates } from './classRates.js';
import { blockNs, schedulerBalance } from './blockTime.js';
import { SCHEDULED } from './issueTurns.js';

/** Blocks of one kind, `perSm` on each of their SMs. */
export interface RatedGroup {
  readonly work: BlockWork;
  readonly sms: number;
  readonly perSm: number;
  /** Whose they are; of several launches the lowest is the oldest. */
  readonly launch?: number;
}

/** SMs that all hold the same groups; `members` are positions in the list of groups. */
export interface SmClass {
  readonly members: readonly number[];
}

/**
 * How fast blocks progress, as a fraction of a block per nanosecond: for each class of SMs, one rate for each member.
 *
 * A block alone would take `solo`: its latency chain joined with its own use of each resource. With company, every
 * resource is shared max-min fairly among the demands that the blocks would make alone; the resources' times are joined by
 * a p-norm, so that two limits that nearly bind cost more than either, and with the chain by another.
 * @param soloTimes what earlier calls with these limits found, and where this one leaves what it finds
 */
export function blockRates(
  groups: readonly RatedGroup[],
  classes: readonly SmClass[],
  limits: Capacities,
  exponent: number,
  schedulers: number,
  soloTimes = new WeakMap<BlockWork, number>(),
): number[][] {
  const soloNs: number[] = [];
  const common: number[] = [];
  const chains: number[] = [];
  const everywhere: number[] = [];
  const wanted: number[] = [];
  for (const { work, sms, perSm } of groups) {
    let alone = soloTimes.get(work);
    if (alone === undefined) soloTimes.set(work, (alone = soloTimeNs(work, limits, exponent, schedulers)));
    soloNs.push(alone);
    common.push(0);
    chains.push(chainNs(work, limits));
    everywhere.push(perSm * sms);
    wanted.push(0);
  }
  for (let resource = 0; resource < limits.device.length; resource++) {
    for (let index = 0; index < groups.length; index++) {
      wanted[index] = groups[index].work.device[resource] / soloNs[index];
    }
    const level = fairShare(limits.device[resource], everywhere, wanted);
    if (level === Infinity) continue;
    for (let index = 0; index < groups.length; index++) {
      common[index] += (groups[index].work.device[resource] / level) ** exponent;
    }
  }
  const paths = groups.map(({ work }) => pathNs(work, limits));
  const pathLevel = fairShare(
    1,
    everywhere,
    paths.map((path, index) => path / soloNs[index]),
  );
  for (let index = 0; index < groups.length; index++) {
    common[index] = Math.max(common[index], (paths[index] / pathLevel) ** exponent);
  }
  const terms = { soloNs, chains, powers: common, schedulers };
  return classes.map(({ members }) => classRates(groups, members, terms, limits, exponent));
}

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
