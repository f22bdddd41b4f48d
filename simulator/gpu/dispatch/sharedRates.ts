import type { ResidentGroup } from './residentGroup.js';

/** SMs that hold the same groups. */
export interface HeldClass {
  /** Positions in the list of groups. */
  readonly members: readonly number[];
  readonly sms: readonly number[];
}

/** SMs on which a group's rates differ by less go on as one. */
const RATE_SPREAD = 0.1;

/** SMs by the groups that they hold. */
export function smClasses(groups: readonly ResidentGroup[]): HeldClass[] {
  if (groups.length === 1) return [{ members: [0], sms: groups[0].sms }];
  const members = new Map<number, number[]>();
  groups.forEach((group, index) => {
    for (const sm of group.sms) {
      const held = members.get(sm);
      if (held === undefined) members.set(sm, [index]);
      else held.push(index);
    }
  });
  const classes = new Map<string, { readonly members: readonly number[]; readonly sms: number[] }>();
  for (const sm of [...members.keys()].sort((a, b) => a - b)) {
    const company = members.get(sm) ?? [];
    const key = company.join();
    const held = classes.get(key);
    if (held === undefined) classes.set(key, { members: company, sms: [sm] });
    else held.sms.push(sm);
  }
  return [...classes.values()];
}

/**
 * Gives each group the mean of its SMs' rates. Where they differ by more than a little, the group is split: blocks
 * beside a hog and blocks on free SMs must not end together. @returns the groups as they are then
 */
export function giveRates(
  groups: ResidentGroup[],
  classes: readonly HeldClass[],
  rates: readonly (readonly number[])[],
  /** Takes a part of a group, with the SMs at these positions. */
  part: (group: ResidentGroup, positions: readonly number[]) => ResidentGroup,
): ResidentGroup[] {
  const sums = new Float64Array(groups.length);
  const lows = new Float64Array(groups.length).fill(Infinity);
  const highs = new Float64Array(groups.length);
  classes.forEach(({ members, sms }, index) => {
    for (let position = 0; position < members.length; position++) {
      const group = members[position];
      const rate = rates[index][position];
      sums[group] += rate * sms.length;
      lows[group] = Math.min(lows[group], rate);
      highs[group] = Math.max(highs[group], rate);
    }
  });
  let split = false;
  groups.forEach((group, index) => {
    group.ratePerNs = sums[index] / group.sms.length;
    if (highs[index] > lows[index] * (1 + RATE_SPREAD)) split = true;
  });
  if (!split) return groups;
  return groups.flatMap((group, index) => {
    if (highs[index] <= lows[index] * (1 + RATE_SPREAD)) return [group];
    const rateOf = new Map<number, number>();
    classes.forEach(({ members, sms }, smClass) => {
      const position = members.indexOf(index);
      if (position >= 0) for (const sm of sms) rateOf.set(sm, rates[smClass][position]);
    });
    return splitByRate(group, rateOf, part);
  });
}

function splitByRate(
  group: ResidentGroup,
  rateOf: ReadonlyMap<number, number>,
  part: (group: ResidentGroup, positions: readonly number[]) => ResidentGroup,
): ResidentGroup[] {
  const positions = group.sms.map((_, position) => position);
  const rate = (position: number): number => rateOf.get(group.sms[position]) ?? 0;
  positions.sort((a, b) => rate(a) - rate(b) || a - b);
  const parts: number[][] = [];
  let first = 0;
  for (const position of positions) {
    if (parts.length === 0 || rate(position) > first * (1 + RATE_SPREAD)) {
      parts.push([]);
      first = rate(position);
    }
    parts[parts.length - 1].push(position);
  }
  return parts.map((each) => {
    const mean = each.reduce((sum, position) => sum + rate(position), 0) / each.length;
    const kept =
      parts.length === 1
        ? group
        : part(
            group,
            each.sort((a, b) => a - b),
          );
    kept.ratePerNs = mean;
    return kept;
  });
}
