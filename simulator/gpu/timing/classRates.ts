import type { Capacities } from './blockWork.js';
import type { RatedGroup } from './ratedGroup.js';
import { blockNs, schedulerBalance } from './blockTime.js';
import { fairShare } from './fairShare.js';
import { LEAST_LEFT, SCHEDULED, burst, dependence, independence, leftOver } from './issueTurns.js';

/** What of the groups holds on all SMs: each one's time alone, its chain, and the power sum of what the device limits. */
export interface CommonTerms {
  readonly soloNs: readonly number[];
  readonly chains: readonly number[];
  readonly powers: readonly number[];
  readonly schedulers: number;
}

/**
 * Rates of the groups on SMs that hold the same company. Blocks of one launch share all that the SM has fairly; so do
 * blocks of several launches what is queued for (L1, the way to L2). Issue slots and arithmetic units go by turns, the
 * older launch first.
 */
export function classRates(
  groups: readonly RatedGroup[],
  members: readonly number[],
  { soloNs, chains, powers, schedulers }: CommonTerms,
  limits: Capacities,
  exponent: number,
): number[] {
  const sums = members.map((index) => powers[index]);
  const warps = members.reduce((sum, index) => sum + groups[index].perSm * groups[index].work.warps, 0);
  const balance = schedulerBalance(warps, schedulers);
  const ages = turnsOf(groups, members);
  const counts = members.map((index) => groups[index].perSm);
  const demands = members.map(() => 0);
  for (let resource = 0; resource < limits.sm.length; resource++) {
    if (ages.length > 1 && resource < SCHEDULED) continue;
    for (let position = 0; position < members.length; position++) {
      const index = members[position];
      demands[position] = groups[index].work.sm[resource] / soloNs[index];
    }
    const usable = resource < SCHEDULED ? balance : 1;
    addShare(
      sums,
      fairShare(limits.sm[resource] * usable, counts, demands),
      groups,
      members,
      resource,
      exponent,
    );
  }
  const rate: RateOf = (position) =>
    1 /
    blockNs(
      sums[position] ** (1 / exponent),
      chains[members[position]],
      groups[members[position]].work,
      limits,
      sums[position] > 0 ? powers[members[position]] / sums[position] : 0,
    );
  if (ages.length === 1) return sums.map((_, position) => rate(position));
  return ratesByTurns(groups, members, ages, sums, rate, soloNs, limits, exponent);
}

/** Rate of the member at a position, of its power sum as it is. */
type RateOf = (position: number) => number;

/** Each launch in its turn takes what it can of what the older ones leave. */
function ratesByTurns(
  groups: readonly RatedGroup[],
  members: readonly number[],
  ages: readonly number[],
  sums: number[],
  rate: RateOf,
  soloNs: readonly number[],
  limits: Capacities,
  exponent: number,
): number[] {
  const rates = members.map(() => 0);
  /** Of each resource, as a part of it. */
  const free = new Array<number>(SCHEDULED).fill(1);
  for (const age of ages) {
    const mine = members.flatMap((index, position) => (ageOf(groups[index]) === age ? [position] : []));
    const counts = mine.map((position) => groups[members[position]].perSm);
    // What the youngest does not have to leave to anybody.
    const kept = age === ages[ages.length - 1] ? 1 : 1 - LEAST_LEFT;
    for (let resource = 0; resource < SCHEDULED; resource++) {
      const demands = mine.map((position) => {
        const index = members[position];
        return groups[index].work.sm[resource] / soloNs[index];
      });
      const level = fairShare(limits.sm[resource] * free[resource] * kept, counts, demands);
      if (level === Infinity) continue;
      for (const position of mine) {
        sums[position] += (groups[members[position]].work.sm[resource] / level) ** exponent;
      }
    }
    let slots = limits.sm[0] * (1 - free[0]);
    let alone = 0;
    for (const position of mine) {
      rates[position] = rate(position);
      const { work, perSm } = groups[members[position]];
      slots += rates[position] * perSm * work.sm[0];
      alone += independence(work) / mine.length;
    }
    const younger = members.filter((index) => ageOf(groups[index]) > age);
    const wait = burst(groups, younger, soloNs, limits, slots / limits.sm[0]);
    for (const position of mine) rates[position] /= 1 + wait * dependence(groups[members[position]].work);
    for (let resource = 0; resource < SCHEDULED; resource++) {
      let used = 0;
      for (const position of mine) {
        const { work, perSm } = groups[members[position]];
        used += rates[position] * perSm * work.sm[resource];
      }
      free[resource] = leftOver(free[resource], used / limits.sm[resource], alone);
    }
  }
  return rates;
}

/** The launches of a class, the oldest first. */
function turnsOf(groups: readonly RatedGroup[], members: readonly number[]): number[] {
  const ages: number[] = [];
  for (const index of members) {
    const age = ageOf(groups[index]);
    if (!ages.includes(age)) ages.push(age);
  }
  return ages.sort((a, b) => a - b);
}

function ageOf({ launch }: RatedGroup): number {
  return launch ?? 0;
}

function addShare(
  sums: number[],
  level: number,
  groups: readonly RatedGroup[],
  members: readonly number[],
  resource: number,
  exponent: number,
): void {
  if (level === Infinity) return;
  for (let position = 0; position < members.length; position++) {
    sums[position] += (groups[members[position]].work.sm[resource] / level) ** exponent;
  }
}
