import type { Capacities } from './blockWork.js';
import { classRates } from './classRates.js';
import { DeviceShares } from './deviceShares.js';
import type { RatedGroup, SmClass } from './ratedGroup.js';

/**
 * How fast blocks progress, as a fraction of a block per nanosecond: for each class of SMs, one rate for each member.
 *
 * A block alone would take `solo`: its latency chain joined with its own use of each resource. With company, every
 * resource is shared max-min fairly among the demands that the blocks would make alone; the resources' times are joined by
 * a p-norm, so that two limits that nearly bind cost more than either, and with the chain by another.
 * @param shares of these limits; what it keeps of kinds of work serves later calls
 */
export function blockRates(
  groups: readonly RatedGroup[],
  classes: readonly SmClass[],
  limits: Capacities,
  exponent: number,
  schedulers: number,
  shares = new DeviceShares(limits, exponent, schedulers),
): number[][] {
  const demands = groups.map(({ work }) => shares.demandOf(work));
  const users = groups.map(({ sms, perSm }, index) => ({ demand: demands[index], count: perSm * sms }));
  shares.share(users, users.length);
  const terms = {
    soloNs: demands.map((demand) => demand.soloNs),
    chains: demands.map((demand) => demand.chainNs),
    powers: demands.map((demand) => shares.power(demand)),
    schedulers,
  };
  return classes.map(({ members }) => classRates(groups, members, terms, limits, exponent));
}
